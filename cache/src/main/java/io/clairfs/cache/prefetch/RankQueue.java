package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.follow.RankStream;

/**
 * The queue of one rank of a job: its stream's positions to stage, the loader threads assigned to it, and those that work for it now
 * (Lobster, ICPP 2022, section 4.2: a queue of requests for each GPU of the node).
 */
final class RankQueue {
    private final JobRun job;
    private final int stream;

    /** Guarded by {@link LoaderShares}. */
    private int assigned;

    private int running;

    RankQueue(JobRun job, int stream) {
        this.job = job;
        this.stream = stream;
    }

    JobRun job() {
        return job;
    }

    int stream() {
        return stream;
    }

    /** What its loaders stage. */
    RankStream rankStream() {
        return job.stream(stream);
    }

    int assigned() {
        return assigned;
    }

    void assign(int threads) {
        assigned = threads;
    }

    int running() {
        return running;
    }

    void begin() {
        running++;
    }

    void end() {
        running--;
    }

    /** How many loaders it lacks; negative when it has more than are assigned. */
    int lacking() {
        return assigned - running;
    }
}
