package io.clairfs.tools.mount;

import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A process that takes away what a random test has mounted and started, when the test itself can no longer do so: however it was killed. */
final class StressGuard implements AutoCloseable {
    private final Writer in;

    private StressGuard(Process process) {
        in = process.outputWriter(StandardCharsets.US_ASCII);
    }

    static StressGuard start(MountFixture fixture) throws IOException {
        String script;
        try (InputStream resource = StressGuard.class.getResourceAsStream("stress_guard.sh")) {
            script = new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        }
        // Of a session of its own, so that what a terminal or a time limit ends does not end this as well.
        return new StressGuard(new ProcessBuilder(List.of(
                        "setsid",
                        "sh",
                        "-c",
                        script,
                        "guard",
                        fixture.directory().toString()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** The test takes everything away itself. */
    @Override
    public void close() throws IOException {
        in.write("over\n");
        in.close();
    }
}
