package io.clairfs.tools;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentLinkedDeque;

/** Parts that stand on each other, to be ended in the reverse order of their beginning. One that fails to end is logged, and the others end all the same. */
public final class OpenParts implements AutoCloseable {
    private static final Logger LOG = System.getLogger(OpenParts.class.getName());

    private final String what;
    private final ConcurrentLinkedDeque<AutoCloseable> parts = new ConcurrentLinkedDeque<>();

    /** {@code what} they are parts of, for the log. */
    public OpenParts(String what) {
        this.what = what;
    }

    /** A part that has begun, and is the first to end as yet. */
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
