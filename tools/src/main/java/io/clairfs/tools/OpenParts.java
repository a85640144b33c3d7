package io.clairfs.tools;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Parts that depend on each other, closed in the reverse order of their start. A failure to close one is logged, and the others are closed all
 * the same.
 */
public final class OpenParts implements AutoCloseable {
    private static final Logger LOG = System.getLogger(OpenParts.class.getName());

    private final String what;
    private final ConcurrentLinkedDeque<AutoCloseable> parts = new ConcurrentLinkedDeque<>();

    /** {@code what} names the whole in the log. */
    public OpenParts(String what) {
        this.what = what;
    }

    /** Adds a part that has started; it is closed before the earlier ones. Returns it. */
    public <T extends AutoCloseable> T add(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public void close() {
        for (AutoCloseable part; (part = parts.poll()) != null; ) {
            try {
                part.close();
            } catch (Exception e) {
                LOG.log(Level.WARNING, "while ending " + part.getClass().getSimpleName() + " of " + what, e);
            }
        }
    }
}
