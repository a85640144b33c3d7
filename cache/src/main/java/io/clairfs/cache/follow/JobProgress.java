package io.clairfs.cache.follow;

import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import org.jspecify.annotations.Nullable;

/**
 * Where a job is, for status.
 *
 * @param epoch the epoch that the first rank is in; the number of epochs when all is read
 * @param position how many samples of that epoch the first rank has read
 * @param length how many samples the first rank reads in it
 * @param deviations reads of this dataset that did not follow the prediction
 * @param astray set while the trainer is followed through an epoch that is not the one the job says
 * @param inNameOrder whether nearly all reads were in name order for more than an epoch
 * @param stagedAhead samples staged and unread, over all ranks, each once
 */
public record JobProgress(
        int epoch,
        int position,
        int length,
        boolean done,
        boolean inSync,
        long deviations,
        @Nullable Astray astray,
        boolean inNameOrder,
        int stagedAhead) {
    /**
     * A trainer in the wrong epoch.
     *
     * @param epoch the one that it reads
     * @param expected the one that the job says
     */
    public record Astray(int epoch, int expected) {}

    /** That of this moment; under the job's lock. */
    static JobProgress of(JobStreams streams, TrainerFollower follower) throws InvalidSpecException {
        if (streams.count() == 0) {
            return new JobProgress(streams.epoch(), 0, 0, false, true, 0, null, false, 0);
        }
        long position = streams.windows().getFirst().position();
        boolean done = position == AccessStream.END;
        return new JobProgress(
                streams.epoch(),
                done ? 0 : AccessStream.step(position),
                streams.length(),
                done,
                follower.isInSync(),
                follower.deviations(),
                follower.astray(),
                follower.isInNameOrder(),
                streams.stagedAhead());
    }
}
