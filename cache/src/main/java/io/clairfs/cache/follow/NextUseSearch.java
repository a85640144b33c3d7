package io.clairfs.cache.follow;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.order.Sampler;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Finds when a sample is read next by the ranks of this node. */
final class NextUseSearch {
    private static final int EPOCHS_LOOKED_AHEAD = 16;

    private NextUseSearch() {}

    /**
     * The next read of a sample, within the next {@value #EPOCHS_LOOKED_AHEAD} epochs; null when there is none.
     *
     * @param orders of the epochs; each is asked for once while all ranks are in the same epoch
     * @param from where each rank of this node is now
     * @throws OrderNotReadyException when the file of an order does not answer
     */
    static SampleLocation.@Nullable NextUse of(int sample, JobSpec spec, Sampler orders, long[] from)
            throws InvalidSpecException {
        // Samples from there to the beginning of the epoch looked at, which lies behind at first.
        long[] before = Arrays.stream(from).map(at -> -AccessStream.step(at)).toArray();
        SampleLocation.NextUse nearest = null;
        EpochOrder last = null;
        int lastEpoch = 0;
        for (int ahead = 0; ahead < EPOCHS_LOOKED_AHEAD; ahead++) {
            for (int stream = 0; stream < from.length; stream++) {
                int epoch = AccessStream.epoch(from[stream]) + ahead;
                boolean ended = from[stream] == AccessStream.END || epoch >= spec.epochs();
                if (ended || (nearest != null && before[stream] >= nearest.samplesBefore())) {
                    continue; // another rank may be epochs ahead and still be the next to read it
                }
                EpochOrder order;
                try {
                    order = last != null && lastEpoch == epoch ? last : orders.epoch(epoch);
                } catch (InvalidSpecException e) {
                    if (e instanceof OrderNotReadyException late && late.isUnanswered()) {
                        throw late;
                    }
                    return nearest; // what comes after it is not known, or never will be
                }
                last = order;
                lastEpoch = epoch;
                int rank = spec.firstRank() + stream;
                int step = stepOf(sample, order, rank, ahead == 0 ? AccessStream.step(from[stream]) : 0);
                if (step >= 0 && (nearest == null || before[stream] + step < nearest.samplesBefore())) {
                    nearest = new SampleLocation.NextUse(spec.name(), rank, epoch, step, before[stream] + step);
                }
                before[stream] += order.length(rank);
            }
        }
        return nearest;
    }

    /** The first step of a rank, {@code start} or later, at which it reads the sample; -1 when there is none. */
    private static int stepOf(int sample, EpochOrder order, int rank, int start) {
        for (int step = start; step < order.length(rank); step++) {
            if (order.sample(rank, step) == sample) {
                return step;
            }
        }
        return -1;
    }
}
