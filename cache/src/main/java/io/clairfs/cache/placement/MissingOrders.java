package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.request.EpochSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The orders that turned out not to be there while a plan was made. The planner comes to them one by one, and then makes the plan again without: up to
 * that epoch, or without the job where that is the first. So a job whose files are missing, invalid or do not answer costs the plan of no other job.
 *
 * <p>Life cycle: of one plan. Thread-safe, for a second thread of the planner asks for orders, too.
 */
final class MissingOrders {
    /** How many orders of a job may be missing, each after a plan was made again, before the plan goes on without the job. */
    private static final int MOST_OF_A_JOB = 2;

    private final Map<JobRun, Missing> missing = new HashMap<>();

    /** Whether any was added since {@link #takeNews} was asked last. */
    private boolean news;

    /**
     * The first order of a job that is missing.
     *
     * @param epoch its epoch, 0 where the whole job is left out
     * @param times how many were found missing
     */
    private record Missing(int epoch, int times, InvalidSpecException why) {}

    /** The orders of a job's sampler; one that is not there is remembered. */
    EpochSource of(JobRun job, Sampler sampler) {
        return epoch -> {
            try {
                return sampler.epoch(epoch);
            } catch (
                    InvalidSpecException
                            e) { // not there yet, or invalid: the job's own readers end it when they come there
                add(job, epoch, e);
                throw e;
            }
        };
    }

    /** The order of this epoch is not there; {@code epoch} is 0 where nothing of the job can be planned. */
    synchronized void add(JobRun job, int epoch, InvalidSpecException why) {
        Missing before = missing.get(job);
        int times = before == null ? 1 : before.times + 1;
        missing.put(job, new Missing(times > MOST_OF_A_JOB ? 0 : epoch, times, why));
        news = true;
    }

    /** Whether more are missing than when this was asked last: another plan without them may succeed. */
    synchronized boolean takeNews() {
        boolean had = news;
        news = false;
        return had;
    }

    /** Whether any order of this job is missing. */
    synchronized boolean isAnyOf(JobRun job) {
        return missing.containsKey(job);
    }

    /** Whether a job that begins in {@code epoch} cannot be planned for. */
    synchronized boolean isAllOf(JobRun job, int epoch) {
        Missing first = missing.get(job);
        return first != null && first.epoch <= epoch;
    }

    /** The end of the epochs of a job that can be planned for, exclusive; {@code end} at most. */
    synchronized int end(JobRun job, int end) {
        Missing first = missing.get(job);
        return first == null ? end : Math.min(end, first.epoch);
    }

    /** Which of these jobs is left out, and why: a line for each. */
    synchronized List<String> lines(List<JobRun> leftOut) {
        return leftOut.stream()
                .map(job -> job.spec().name() + ": " + why(job).getMessage())
                .toList();
    }

    /** Why a job is left out. */
    synchronized InvalidSpecException why(JobRun job) {
        Missing first = missing.get(job);
        if (first == null) {
            throw new IllegalArgumentException("no order of job " + job.spec().name() + " is missing");
        }
        return first.why;
    }
}
