package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a job names for the tiers of this node to hold, each tier at its own speed: what the ranks of this node read, or, in a group, what any
 * rank of the job does. Thread-safe.
 */
final class FillCursors {
    private final boolean forGroup;
    private final int firstRank;
    private final long start;

    /** For each tier one cursor per stream, or per rank of the whole job. */
    private final List<List<FillCursor>> byTier = new ArrayList<>();

    /**
     * @param start where the job begins
     */
    FillCursors(JobSpec spec, EpochOrders orders, SampleIndex index, int tiers, boolean forGroup, long start) {
        this.forGroup = forGroup;
        this.start = start;
        firstRank = spec.firstRank();
        for (int tier = 0; tier < tiers; tier++) {
            List<FillCursor> ofTier = new ArrayList<>();
            for (int rank = forGroup ? 0 : firstRank; rank < (forGroup ? spec.world() : spec.lastRank() + 1); rank++) {
                ofTier.add(new FillCursor(new AccessStream(orders, rank, spec.epochs()), index, start));
            }
            byTier.add(ofTier);
        }
    }

    /** A rank of this node goes on elsewhere. */
    void jump(int stream, long position) {
        int cursor = forGroup ? firstRank + stream : stream;
        byTier.forEach(ofTier -> ofTier.get(cursor).jump(position));
    }

    /** Looks again at everything that comes: for ranks of other nodes from where the hindmost of this node is. */
    void restart(long[] positions) {
        if (forGroup) {
            long others = Arrays.stream(positions).min().orElse(start);
            byTier.forEach(ofTier -> ofTier.forEach(cursor -> cursor.jump(others)));
        }
        for (int stream = 0; stream < positions.length; stream++) {
            jump(stream, positions[stream]);
        }
    }

    /** The next file that a tier might have to be given, in access order over all streams, or {@link FillCursor#NONE}. */
    int next(int tier) throws InvalidSpecException {
        FillCursor nearest = byTier.get(tier).getFirst();
        for (FillCursor cursor : byTier.get(tier)) {
            if (cursor.position() < nearest.position()) {
                nearest = cursor;
            }
        }
        return nearest.next();
    }
}
