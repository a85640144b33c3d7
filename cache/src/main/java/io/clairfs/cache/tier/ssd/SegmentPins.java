package io.clairfs.cache.tier.ssd;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Which segments samples are being sent from. A pinned segment keeps its bytes where they are. If every segment were always pinned,
 * compaction would never gain room. So compaction may hold new pins back for a moment: those that are there end, and a segment comes
 * free.
 */
final class SegmentPins {
    private final long mostNs;
    private volatile boolean heldBack;

    /** Pins that are held back for {@code mostNs} at most; one takes milliseconds. */
    SegmentPins(long mostNs) {
        this.mostNs = mostNs;
    }

    /** Holds the segment's bytes where they are, until {@link #unpin}. Returns false when that cannot be now; never waits. */
    boolean pin(Segment segment) {
        return !heldBack && segment.pin();
    }

    /** Ends what {@link #pin} began. */
    void unpin(Segment segment) {
        if (segment.unpin() && heldBack) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /**
     * Pins nothing until {@code free} returns true; it is asked again whenever a segment has lost its last pin.
     *
     * <p>The thread that unpins waits for {@code free}, which therefore must be quick.
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
