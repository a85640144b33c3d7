package io.clairfs.fs.slow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** A slow source in a process of its own, to be killed. It ends by itself after a while. */
final class SlowMountProcess {
    private static final Duration LIFE = Duration.ofSeconds(60);

    private SlowMountProcess() {}

    static Process start(Path directory, Path point) throws IOException {
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SlowMountProcess.class.getName(),
                        directory.toString(),
                        point.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(process.inputReader(UTF_8).readLine()).isEqualTo("mounted");
        return process;
    }

    public static void main(String[] arguments) throws Exception {
        SlowSourceSpec spec = new SlowSourceSpec(1L << 34, Duration.ZERO);
        try (SlowMount _ = SlowMount.mount(Path.of(arguments[0]), Path.of(arguments[1]), spec)) {
            System.out.println("mounted");
            Thread.sleep(LIFE);
        }
    }
}
