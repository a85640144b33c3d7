package io.clairfs.cache.tier.ssd;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Pins the segments that samples are being sent from. A pinned segment keeps its bytes in place. If every segment were always pinned,
 * compaction would never gain room. So compaction may hold new pins back for a moment: present pins end, and a segment comes free.
 */
final class SegmentPins {
    private final long mostNs;
    private volatile boolean heldBack;

    /** New pins are held back for {@code mostNs} at most; a pin takes milliseconds. */
    SegmentPins(long mostNs) {
        this.mostNs = mostNs;
    }

    /** Keeps the segment's bytes in place until {@link #unpin}. Returns false when that is not possible now; never waits. */
    boolean pin(Segment segment) {
        return !heldBack && segment.pin();
    }

    /** Ends a {@link #pin}. */
    void unpin(Segment segment) {
        if (segment.unpin() && heldBack) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /**
     * Holds new pins back until {@code free} returns true; it is called again whenever a segment has lost its last pin.
     *
     * <p>A thread that unpins waits for {@code free}, which must be quick.
     *
     * @return false on a timeout, or when this thread was interrupted
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
