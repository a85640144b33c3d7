package io.clairfs.tools.mount;

import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A process that removes the mounts and processes of a random test if the test was killed and cannot do so itself. */
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
        // It has its own session, so that a terminal or a time limit does not end it as well.
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

    /** Ends the guard: the test removes everything itself. */
    @Override
    public void close() throws IOException {
        in.write("over\n");
        in.close();
    }
}
