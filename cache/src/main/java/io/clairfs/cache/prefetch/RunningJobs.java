package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Planning;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Activity;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The jobs of this node that run now: how each begins and ends, and the searches for their trainers.
 *
 * <p>Thread-safe without a lock of its own: {@link Planning}, {@link LoaderShares} and jobs are called one after another while none is held.
 */
final class RunningJobs {
    private static final Logger LOG = System.getLogger(RunningJobs.class.getName());

    private final List<JobRun> jobs;
    private final Planning planning;
    private final LoaderShares shares;
    private final WorkSignal loaders;
    private final Activity activity;
    private final ErrorLog errors;

    /** Jobs that a thread is ending because they failed. */
    private final Set<JobRun> failing = ConcurrentHashMap.newKeySet();

    /**
     * No jobs yet.
     *
     * @param jobs a list that other threads may read at any time, and that is changed here alone
     * @param loaders is woken when a trainer was found
     * @param activity hears of trainers that were found and of jobs that fail; who begins and ends jobs tells it
     */
    RunningJobs(
            List<JobRun> jobs,
            Planning planning,
            LoaderShares shares,
            WorkSignal loaders,
            Activity activity,
            ErrorLog errors) {
        this.jobs = jobs;
        this.planning = planning;
        this.shares = shares;
        this.loaders = loaders;
        this.activity = activity;
        this.errors = errors;
    }

    /** What is done for a job. */
    @FunctionalInterface
    interface Action {
        void run(JobRun job) throws InvalidSpecException;
    }

    /** Begins a job in place of the one of its name, if there is one. */
    void add(JobRun run) {
        boolean _ = remove(run.spec().name());
        jobs.add(run);
        planning.jobsChanged();
        shares.add(run); // behind the plan, for a sample that is staged before would be fetched again to be kept
        if (!jobs.contains(run)) { // it has failed meanwhile
            shares.remove(run);
        }
    }

    /** Ends the job of this name. Returns whether there was one. */
    boolean stop(String name) {
        boolean found = remove(name);
        if (found) {
            planning.jobsChanged();
        }
        return found;
    }

    private boolean remove(String name) {
        return job(name).map(this::remove).orElse(false);
    }

    private boolean remove(JobRun job) {
        if (!jobs.remove(job)) {
            return false;
        }
        shares.remove(job);
        job.close();
        return true;
    }

    /** Ends a job, unless it was replaced meanwhile. The reason is told first: whoever misses the job finds it. */
    void fail(JobRun job, String reason) {
        if (!failing.add(job)) {
            return; // another thread has met the error, too
        }
        try {
            if (jobs.contains(job)) {
                errors.add("job " + job.spec().name() + " ended: " + reason);
                if (remove(job)) {
                    planning.jobsChanged();
                    activity.happened();
                }
            }
        } finally {
            failing.remove(job);
        }
    }

    /** Ends all jobs; nothing is planned any more. */
    void removeAll() {
        jobs.forEach(this::remove);
    }

    Optional<JobRun> job(String name) {
        return jobs.stream().filter(j -> j.spec().name().equals(name)).findFirst();
    }

    /** The jobs in the order in which they were started, as they come and go. */
    List<JobRun> all() {
        return Collections.unmodifiableList(jobs);
    }

    /** Does something for these jobs, one after another. One whose order turns out to be invalid ends. */
    void forEach(List<JobRun> some, Action action) {
        for (JobRun job : some) {
            try {
                action.run(job);
            } catch (InvalidSpecException e) {
                fail(job, String.valueOf(e.getMessage()));
            }
        }
    }

    /** Looks for the trainer of a job on a thread of its own. */
    void beginSearch(JobRun job) {
        try {
            Thread.ofPlatform().daemon().name("search").start(() -> search(job));
        } catch (OutOfMemoryError noThread) {
            job.searchNotBegun(); // it is tried again
        }
    }

    private void search(JobRun job) {
        try {
            if (job.search()) {
                planning.trainerMoved();
            }
            loaders.wake();
            activity.happened();
        } catch (InvalidSpecException e) {
            fail(job, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "looking for the trainer of job " + job.spec().name(), e);
            errors.add("looking for the trainer of job " + job.spec().name() + " failed: " + e);
        }
    }

    /** Looks for the trainer of a job by what was read last. Returns whether it follows the prediction then. May take a while. */
    boolean searchNow(JobRun job) {
        try {
            boolean follows = job.searchNow();
            if (follows) {
                planning.trainerMoved();
                loaders.wake();
                activity.happened();
            }
            return follows;
        } catch (InvalidSpecException e) {
            fail(job, String.valueOf(e.getMessage()));
            return false;
        }
    }
}
