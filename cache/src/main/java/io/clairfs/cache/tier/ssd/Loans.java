package io.clairfs.cache.tier.ssd;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Which segments something is being sent from. A segment that is lent from keeps its bytes where they are, and where every segment is,
 * always by somebody, no room could be made for ever. So who needs room may hold loans back for a moment: then those under way end,
 * and a segment comes free.
 */
final class Loans {
    private final long mostNs;
    private volatile boolean heldBack;

    /** Loans that are held back for {@code mostNs} at most; one takes milliseconds. */
    Loans(long mostNs) {
        this.mostNs = mostNs;
    }

    /** Holds the segment's bytes where they are, until {@link #end}. Returns false when that cannot be now; never waits. */
    boolean begin(Segment segment) {
        return !heldBack && segment.pin();
    }

    /** Ends what {@link #begin} began. */
    void end(Segment segment) {
        if (segment.unpin() && heldBack) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /**
     * Begins no loans until {@code free} returns true; it is asked again whenever a segment is not lent from any more.
     *
     * <p>Whoever ends a loan waits for {@code free}, which therefore must be quick.
     *
     * @return false when it did not in time, or when this thread was interrupted
     */
    synchronized boolean holdBackUntil(BooleanSupplier free) {
        heldBack = true;
        try {
            long startNs = System.nanoTime();
            while (!free.getAsBoolean()) {
                long leftNs = mostNs - (System.nanoTime() - startNs);
                if (leftNs <= 0) {
                    return false;
                }
                TimeUnit.NANOSECONDS.timedWait(this, leftNs);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            heldBack = false;
        }
    }
}
