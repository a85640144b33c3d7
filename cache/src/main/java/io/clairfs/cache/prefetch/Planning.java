package io.clairfs.cache.prefetch;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.status.ErrorLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the plan of this node up to date with its jobs.
 *
 * <p>A plan over millions of samples and many epochs takes a while. It is made on a thread of its own; meanwhile what is fetched is kept
 * while there is room, which is where a plan begins too. When jobs change again while one is made, another is made after it.
 */
final class Planning implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Planning.class.getName());
    /** How often a plan is asked whether it has grown too old. */
    private static final long STALE_LOOK_MS = 2_000;

    private static final long END_TIMEOUT_MS = 1_000;

    private final TierKeeper keeper;
    private final JobPlanner planner;
    private final List<JobRun> jobs;
    private final Runnable planned;
    private final ErrorLog errors;
    private final Thread thread;
    private boolean changed;
    private boolean closed;

    /**
     * Starts the thread.
     *
     * @param planned is called when there is a new plan
     */
    Planning(TierKeeper keeper, JobPlanner planner, List<JobRun> jobs, Runnable planned, ErrorLog errors) {
        this.keeper = keeper;
        this.planner = planner;
        this.jobs = jobs;
        this.planned = planned;
        this.errors = errors;
        thread = Thread.ofPlatform().daemon().name("planner").start(this::run);
    }

    /** Jobs, or what the tiers hold, are not what the plan was made for. */
    synchronized void jobsChanged() {
        if (jobs.isEmpty()) {
            keeper.followNone();
        } else if (!keeper.hasPlan()) {
            keeper.follow(planner.meanwhile());
        }
        changed = true;
        notifyAll();
    }

    private void run() {
        try {
            while (awaitChange()) {
                List<JobRun> now = List.copyOf(jobs);
                LocalPlan plan = now.isEmpty() ? null : plan(now);
                if (plan != null) {
                    follow(plan, now);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean awaitChange() throws InterruptedException {
        while (!changed && !closed) {
            wait(STALE_LOOK_MS);
            changed |= keeper.plan().isStale();
        }
        changed = false;
        return !closed;
    }

    private @Nullable LocalPlan plan(List<JobRun> now) {
        try {
            return planner.plan(now);
        } catch (InvalidSpecException e) {
            errors.add("no plan: " + e.getMessage() + "; what is read is kept while there is room");
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a bug in the planner; what is read is kept while there is room", e);
        }
        return null;
    }

    private void follow(LocalPlan plan, List<JobRun> plannedFor) {
        synchronized (this) {
            if (changed) {
                return; // the next one is due already
            }
            keeper.follow(plan);
        }
        plannedFor.forEach(JobRun::fillAgain);
        planned.run();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        try {
            thread.join(END_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
