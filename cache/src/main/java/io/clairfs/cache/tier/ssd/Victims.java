package io.clairfs.cache.tier.ssd;

import org.jspecify.annotations.Nullable;

/** Chooses which segment goes next: for the room that its dead samples take, or because there are many small ones. */
final class Victims {
    /** So many segments may be less than half full: those of the last mounts, and those that a failed write ended. */
    private static final int MOST_SMALL = 8;

    private final SegmentLog log;

    Victims(SegmentLog log) {
        this.log = log;
    }

    /** A segment that holds nothing alive, that nobody writes to, and from which nothing is sent, or null. */
    @Nullable
    Segment dead() {
        synchronized (log) {
            for (Segment segment : log.segments()) {
                if (segment.isSettled() && segment.liveSamples == 0 && segment.isUnpinned()) {
                    return segment;
                }
            }
            return null;
        }
    }

    /**
     * Of the segments that hold something dead and from which nothing is sent, the one with the fewest live bytes; null when there is
     * none.
     */
    @Nullable
    Segment sparsest() {
        synchronized (log) {
            Segment best = null;
            for (Segment segment : log.segments()) {
                if (log.isWorthwhile(segment)
                        && segment.isUnpinned()
                        && (best == null || segment.liveBytes < best.liveBytes)) {
                    best = segment;
                }
            }
            return best;
        }
    }

    /** Whether something is dead in a segment that something is being sent from. */
    boolean isRoomPinned() {
        synchronized (log) {
            return log.segments().stream().anyMatch(segment -> log.isWorthwhile(segment) && !segment.isUnpinned());
        }
    }

    /** The smallest segment that nothing is sent from, if there are more small ones than there need be; else null. */
    @Nullable
    Segment smallestOfMany() {
        synchronized (log) {
            int small = 0;
            Segment best = null;
            for (Segment segment : log.segments()) {
                if (log.isSmall(segment)) {
                    small++;
                    if (segment.isUnpinned() && (best == null || segment.dataBytes < best.dataBytes)) {
                        best = segment;
                    }
                }
            }
            Segment chosen = small > MOST_SMALL ? best : null;
            log.setFragmented(chosen != null);
            return chosen;
        }
    }
}
