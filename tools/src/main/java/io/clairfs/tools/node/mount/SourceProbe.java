package io.clairfs.tools.node.mount;

import io.clairfs.fs.mount.MountException;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Checks before a mount whether its source answers at all.
 *
 * <p>A separate process looks at the source: a thread that waits for a dead server cannot be interrupted, and would keep this process from
 * ending.
 */
public final class SourceProbe {
    private static final int TIMEOUT_S = 15;

    private SourceProbe() {}

    /** Refuses a source that does not answer in time. {@link MountCheck} finds all other problems. */
    public static void requireAnswer(Path source) throws IOException {
        Process asking = new ProcessBuilder("/bin/sh", "-c", "[ -d \"$1/.\" ]", "sh", source.toString())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        asking.getOutputStream().close();
        try {
            if (!asking.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new MountException("source " + source + " did not answer within " + TIMEOUT_S
                        + " s; see whether 'ls " + source + "' does, and mount when its server is back");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MountException("interrupted while asking source " + source);
        } finally {
            asking.destroyForcibly();
        }
    }
}
