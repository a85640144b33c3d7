package io.clairfs.cache.tier.ssd;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Chooses the next segment to remove: for the room of its dead samples, or because there are many small ones. */
final class Victims {
    /** This many segments may be small: those of the last mounts, and those that a failed write ended. */
    private static final int MOST_SMALL = 8;

    private final SegmentLog log;

    Victims(SegmentLog log) {
        this.log = log;
    }

    /** A settled segment without live samples and without pins, or null. */
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

    /** All settled segments, those without live samples first, then the oldest. */
    List<Segment> deadThenOldest() {
        synchronized (log) {
            List<Segment> settled = new ArrayList<>();
            for (Segment segment : log.segments()) {
                if (segment.isSettled()) {
                    settled.add(segment);
                }
            }
            settled.sort(Comparator.comparing((Segment segment) -> segment.liveSamples > 0)
                    .thenComparingInt(Segment::number));
            return settled;
        }
    }

    /** Of the settled segments with dead bytes and without pins, the one with the fewest live bytes; null when there is none. */
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

    /** Whether a settled segment with dead bytes is pinned. */
    boolean isRoomPinned() {
        synchronized (log) {
            return log.segments().stream().anyMatch(segment -> log.isWorthwhile(segment) && !segment.isUnpinned());
        }
    }

    /** The smallest segment without pins, if there are more than {@link #MOST_SMALL} small ones; else null. */
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
