package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Worker;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the plan of this node up to date with its jobs.
 *
 * <p>A plan over millions of samples and many epochs takes a while. A thread of its own makes it; meanwhile a node alone keeps what is
 * fetched while there is room, which is where a plan begins too. When jobs change while a plan is made, another one is made after it, and so it is
 * when an order file has answered that a plan went on without.
 *
 * <p>Life cycle: the prefetcher makes it, which starts its thread, and closes it first of all. Its lock guards what is due.
 * {@link Admission#follow} is called under it, so that a plan for former jobs never replaces a newer one, and so is
 * {@link JobPlanner#meanwhile}. Plans and orders are computed without it, and {@code planned} is called without it.
 */
public final class Planning implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Planning.class.getName());
    /** How often the thread looks whether a plan is stale, or a trainer will soon need an order. */
    private static final long STALE_LOOK_MS = 2_000;

    /** How soon a plan is tried again that could not be made, as when an order file could not be read, or memory was too little. */
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(30);

    private final Admission admission;
    private final JobPlanner planner;
    private final List<JobRun> jobs;
    private final Runnable planned;
    private final ErrorLog errors;
    private final long againNs;
    private final Worker worker;

    /** The orders that jobs were said to wait for; only the worker uses it. */
    private final ToldWaits told = new ToldWaits();

    /** The order file of each job that was last said not to answer; only the worker uses it. */
    private final Map<JobRun, String> unanswered = new HashMap<>();

    /** The jobs that the last plan was said to leave out; only the worker uses it. */
    private List<String> leftOut = List.of();

    /** Why the last plan could not be made, as it was said, and when; only the worker uses them. */
    private @Nullable String failure;

    private long failedNs;

    private boolean changed;

    /** As {@link #changed}, but a plan for the same jobs that is being made is followed until the next. */
    private boolean answered;

    private boolean moved;
    private boolean closed;

    /**
     * Starts the worker.
     *
     * @param planned called when there is a new plan
     */
    public Planning(Admission admission, JobPlanner planner, List<JobRun> jobs, Runnable planned, ErrorLog errors) {
        this(admission, planner, jobs, planned, errors, AGAIN_NS);
    }

    Planning(
            Admission admission,
            JobPlanner planner,
            List<JobRun> jobs,
            Runnable planned,
            ErrorLog errors,
            long againNs) {
        this.againNs = againNs;
        this.admission = admission;
        this.planner = planner;
        this.jobs = jobs;
        this.planned = planned;
        this.errors = errors;
        worker = new Worker("planner", this::handleNext, errors);
        worker.start();
    }

    /** Jobs, nodes or the contents of tiers have changed: plans again. */
    public synchronized void jobsChanged() {
        if (jobs.isEmpty()) {
            admission.followNone();
        } else if (!admission.hasPlan()) {
            admission.follow(planner.meanwhile());
        }
        changed = true;
        notifyAll();
    }

    /** Orders that a plan went on without can be looked at now: plans again. */
    public synchronized void ordersAnswered() {
        answered = true;
        notifyAll();
    }

    /** A trainer was found elsewhere than expected: tiers are filled first with what it needs first. */
    public synchronized void trainerMoved() {
        moved = true;
        notifyAll();
    }

    private enum Due {
        PLAN,
        ORDER,
        NOTHING,
        END
    }

    /** Does what is due, and forgets it even if that fails: after a bug the next change, or the next look, is handled. */
    private void handleNext() throws InterruptedException {
        Due due = next();
        List<JobRun> now = List.copyOf(jobs);
        switch (due) {
            case PLAN -> planFor(now);
            case ORDER -> fillAgain(now);
            case NOTHING -> lookAround(now);
            case END -> {}
        }
    }

    private Due next() throws InterruptedException {
        Due due = awaitChange();
        boolean isDueAgain = failure != null && System.nanoTime() - failedNs >= againNs;
        return due == Due.NOTHING && (isDueAgain || admission.plan().isStale())
                ? Due.PLAN
                : due; // not under the lock: it may look for files
    }

    private synchronized Due awaitChange() throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STALE_LOOK_MS);
        for (long left = STALE_LOOK_MS; left > 0 && !changed && !answered && !moved && !closed; ) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        }
        Due due = closed ? Due.END : changed || answered ? Due.PLAN : moved ? Due.ORDER : Due.NOTHING;
        changed = false;
        answered = false;
        moved = false;
        return due;
    }

    private void planFor(List<JobRun> now) {
        followMeanwhile(now);
        String before = failure;
        failure = null;
        LocalPlan plan = now.isEmpty() ? null : make(() -> planner.plan(now), before);
        if (plan != null && !plan.isMeanwhile()) {
            tellLeftOut(plan.leftOut());
            follow(plan);
        } else if (now.isEmpty()) {
            leftOut = List.of();
        }
    }

    /** Says which jobs a plan leaves out, but not again what was said of the plan before. */
    private void tellLeftOut(List<String> lines) {
        for (String line : lines) {
            if (!leftOut.contains(line)) {
                errors.add(
                        "no plan for job " + line + "; the other jobs are planned for, and this one when it is there");
            }
        }
        leftOut = List.copyOf(lines);
    }

    private void fillAgain(List<JobRun> now) {
        LocalPlan before = admission.plan();
        if (before.isMeanwhile()) {
            followMeanwhile(now);
        } else if (!now.isEmpty()) {
            LocalPlan plan = make(() -> planner.refilled(before), failure);
            if (plan != null) {
                follow(plan);
            }
        }
    }

    /** While there is no plan, tiers are filled with what these jobs read now. */
    private void followMeanwhile(List<JobRun> now) {
        if (!now.isEmpty() && admission.plan().isMeanwhile()) {
            LocalPlan plan = make(() -> WhileRoom.of(now), failure);
            if (plan != null) {
                follow(plan);
            }
        }
    }

    private void lookAround(List<JobRun> now) {
        if (admission.plan() instanceof WhileRoom without && without.isOver()) {
            followMeanwhile(now);
        }
        for (JobRun job : now) {
            job.prepareNextEpoch();
            String awaited = job.awaitedOrder();
            if (told.isNews(job, awaited)) {
                errors.add("job " + job.spec().name() + " waits for the order of its next epoch: " + awaited);
            }
            tellUnanswered(job);
        }
        told.forgetOthersThan(now);
        unanswered.keySet().retainAll(now);
    }

    /** Says that a file of a job does not answer, unless the job has no plan for that reason. */
    private void tellUnanswered(JobRun job) {
        String now = admission.plan().covers(job) ? job.plannerOrders().unanswered() : null;
        if (now == null) {
            var _ = unanswered.remove(job);
        } else if (!now.equals(unanswered.put(job, now))) {
            errors.add("job " + job.spec().name() + " is planned for only as far as its orders are known: " + now);
        }
    }

    /** Makes a plan; may take a while. */
    @FunctionalInterface
    private interface Making {
        LocalPlan plan() throws InvalidSpecException;
    }

    /** Null when it cannot be made, which is said unless it was {@code said}; a bug is logged only. */
    private @Nullable LocalPlan make(Making making, @Nullable String said) {
        try {
            return making.plan();
        } catch (InvalidSpecException e) {
            failed(String.valueOf(e.getMessage()), said);
        } catch (OutOfMemoryError e) {
            long heapMiB = Runtime.getRuntime().maxMemory() >> 20;
            LOG.log(Level.DEBUG, "no memory for a plan; it is tried again", e);
            failed(
                    "it takes more than the " + heapMiB + " MiB of Java's heap; mount again with JDK_JAVA_OPTIONS=-Xmx"
                            + 2 * heapMiB + "m or more, within a memory limit for which that is not too much",
                    said);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a bug in the planner; what is read is kept while there is room", e);
        }
        return null;
    }

    private void failed(String why, @Nullable String said) {
        failure = why;
        failedNs = System.nanoTime();
        if (!why.equals(said)) {
            errors.add("no plan: " + why + "; "
                    + (admission.plan().isPending()
                            ? "memory keeps what is read while there is room, and no tier is filled until there is one"
                            : "what is read is kept while there is room"));
        }
    }

    private void follow(LocalPlan plan) {
        synchronized (this) {
            if (changed) {
                return; // the next one is due already
            }
            admission.follow(plan);
        }
        planned.run();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        worker.close();
    }
}
