package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.mount.MountTable;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.List;

/**
 * A process that ends the mounts and processes of a random test if the test was killed and cannot do so itself ({@code stress_guard.sh}).
 *
 * <p>It ends when the directory of the test has been removed, and nothing has to end it: a test that fails because a signal has ended the processes
 * around it would say that it is over, and then be ended before it has unmounted.
 */
final class StressGuard {
    /** Its name among the processes. */
    static final String NAME = "guard";

    private StressGuard() {}

    /** Starts one for a test in process {@code pid} with its mounts below {@code directory}. */
    static void start(long pid, Path directory) throws IOException, InterruptedException {
        String script = script(MountTable.class, "connection.sh") + script(StressGuard.class, "stress_guard.sh");
        // It has its own session and is no child of the test: what ends a session, or a process with its children, does
        // not end it as well.
        List<String> command =
                List.of("setsid", "--fork", "/bin/bash", "-c", script, NAME, Long.toString(pid), directory.toString());
        int exit = new ProcessBuilder(command)
                .directory(Path.of("/").toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IOException("setsid --fork ended with " + exit);
        }
    }

    private static String script(Class<?> beside, String name) throws IOException {
        try (InputStream resource = beside.getResourceAsStream(name)) {
            return new String(resource.readAllBytes(), UTF_8);
        }
    }
}
