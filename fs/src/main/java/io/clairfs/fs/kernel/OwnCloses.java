package io.clairfs.fs.kernel;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The files that this process closes itself, so that their reports are not taken for reads. The kernel queues the report before the close returns, unless it
 * merges it with an equal one before it, or the directory is not watched. So an entry is forgotten once the queue was emptied by a look that began after the close:
 * a later report of the file is a reader's. Thread-safe.
 */
final class OwnCloses {
    private static final long LATEST_NS = TimeUnit.SECONDS.toNanos(2);
    private static final int MANY = 1 << 16;
    private static final long NOT_CLOSED_YET = Long.MAX_VALUE;

    private final LongSupplier clockNs;
    private final Map<Integer, Closing> closing = new HashMap<>();

    /** How many looks at the queue have begun. */
    private long looks;

    /**
     * One close.
     *
     * @param look how many looks had begun when it returned
     */
    private record Closing(long sinceNs, long look) {}

    /** {@code clockNs} is as {@link System#nanoTime}. */
    OwnCloses(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Notes that this process closes {@code file} next. */
    synchronized void closing(int file) {
        long now = clockNs.getAsLong();
        if (closing.size() >= MANY) {
            closing.values().removeIf(each -> now - each.sinceNs > LATEST_NS);
        }
        closing.put(file, new Closing(now, NOT_CLOSED_YET));
    }

    /** The close has returned, so its report is in the queue, if there is one. */
    synchronized void closed(int file) {
        closing.computeIfPresent(file, (_, before) -> new Closing(before.sinceNs, looks));
    }

    /** A look at the queue begins. Returns its number. */
    synchronized long lookBegins() {
        return ++looks;
    }

    /** The look of this number has handled all that was in the queue. */
    synchronized void emptied(long look) {
        if (!closing.isEmpty()) {
            closing.values().removeIf(each -> each.look < look);
        }
    }

    /** Takes a reported close of {@code file}. Returns whether it is this process's own, which is reported once. */
    synchronized boolean take(int file) {
        Closing since = closing.isEmpty() ? null : closing.remove(file);
        return since != null && clockNs.getAsLong() - since.sinceNs <= LATEST_NS;
    }

    /** Forgets all of them: reports were lost, perhaps theirs. */
    synchronized void forget() {
        closing.clear();
    }
}
