package io.clairfs.fs.mount;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;

/**
 * A small process beside the one that serves a FUSE mount, which ends the mount's connection if the serving process is killed and cannot end.
 *
 * <p>The kernel ends a killed process when none of its threads waits in the kernel any more. One that pushes pages may wait for a reader that waits for
 * the process, and one that looks up a name on the mount of its own process for an answer that will never come: without help they and all readers would
 * wait for ever. The same goes for a thread that waits for a dead source.
 */
final class Watchdog implements AutoCloseable {
    private static final String SCRIPT = "watchdog.sh";

    private final Process process;

    private Watchdog(Process process) {
        this.process = process;
    }

    /**
     * Watches over this process as long as it lives.
     *
     * @param device the mount's device as in /proc/self/mountinfo
     */
    static Watchdog start(Path point, String device) throws IOException {
        Process process = new ProcessBuilder(
                        "/bin/sh",
                        "-s",
                        "--",
                        Long.toString(ProcessHandle.current().pid()),
                        device,
                        point.toString())
                .directory(Path.of("/").toFile())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        try (InputStream script = Watchdog.class.getResourceAsStream(SCRIPT);
                OutputStream in = process.getOutputStream()) {
            script.transferTo(in);
        } catch (IOException e) {
            process.destroyForcibly();
            throw e;
        }
        return new Watchdog(process);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
