package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import java.io.Serial;

/** The order of a job's next epoch cannot be computed, which shows only when it is needed: the job has to end. */
final class JobFailedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final transient JobRun job;

    JobFailedException(JobRun job, InvalidSpecException cause) {
        super(cause.getMessage(), cause);
        this.job = job;
    }

    JobRun job() {
        return job;
    }
}
