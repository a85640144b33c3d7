package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.follow.RankStream;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StreamWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which rank a loader works for next.
 *
 * <p>Each rank is assigned a number of loaders out of the fixed total. The numbers are computed anew every few milliseconds, so that a rank
 * that is predicted to be late gets more ({@link LoaderAssignment}). A free loader goes to the rank that lacks most of its number. When no
 * rank that lacks any has work it goes to any that has, if ranks lend idle loaders.
 *
 * <p>Life cycle: the {@link Prefetcher} makes it, and adds and removes jobs; there is nothing to close. Its lock comes before that of a
 * job, and that before the staging buffer's. A loader takes its next position under it. {@link LoaderAssignment#assign} is called without it,
 * and no order is computed, and no sample fetched or pushed, under it.
 */
public final class LoaderShares {
    /** How long loaders wait for a plan that says which node fetches what, while no trainer reads. */
    private static final long PLAN_PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

    /** The same while one reads, and waits for each sample. What is read before there is a plan may be read once more by another node. */
    private static final long READING_PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);

    private static final double NO_HURRY_SECONDS = 0.1;

    private static final long ASSIGN_EVERY_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final Comparator<RankQueue> MOST_LACKING =
            Comparator.comparingInt(RankQueue::lacking).reversed();

    private final LoaderAssignment assignment;
    private final long stagingBytes;
    private final int loaders;
    private final LongSupplier clockNs;
    private final List<RankQueue> queues = new ArrayList<>();
    private final BooleanSupplier planPending;
    private final AtomicBoolean assigning = new AtomicBoolean();
    private long assignedAtNs;
    private long addedAtNs;
    private long claims;
    private int claimed;
    private boolean stale = true;

    /** Jobs of which no rank reads here. */
    private final List<JobRun> readElsewhere = new ArrayList<>();

    /**
     * Shares of {@code loaders} threads.
     *
     * @param stagingBytes the staging buffer's capacity, shared evenly by the ranks
     * @param planPending whether the plan waits for other nodes before it says which node fetches what
     */
    LoaderShares(
            LoaderAssignment assignment,
            long stagingBytes,
            int loaders,
            BooleanSupplier planPending,
            LongSupplier clockNs) {
        this.planPending = planPending;
        this.assignment = assignment;
        this.stagingBytes = stagingBytes;
        this.loaders = loaders;
        this.clockNs = clockNs;
    }

    /**
     * A position to stage, its rank, what that had as its share of the staging buffer, and how many were claimed before it. It takes one of the
     * loaders until it is {@link #done}.
     */
    static final class Claim {
        private final RankQueue queue;
        private final StreamWindow.ToStage what;
        private final long shareBytes;
        private final long number;
        private boolean done;

        private Claim(RankQueue queue, StreamWindow.ToStage what, long shareBytes, long number) {
            this.queue = queue;
            this.what = what;
            this.shareBytes = shareBytes;
            this.number = number;
        }

        RankQueue queue() {
            return queue;
        }

        StreamWindow.ToStage what() {
            return what;
        }

        long number() {
            return number;
        }
    }

    synchronized void add(JobRun job) {
        for (int stream = 0; stream < job.streams(); stream++) {
            queues.add(new RankQueue(job, stream));
        }
        if (job.streams() == 0) {
            readElsewhere.add(job);
        }
        addedAtNs = clockNs.getAsLong();
        stale = true;
    }

    synchronized void remove(JobRun job) {
        readElsewhere.remove(job);
        queues.removeIf(queue -> queue.job() == job);
        stale = true;
    }

    /** The next work of the calling loader, which {@link #done ends} it; null when there is none. */
    @Nullable
    Claim claim() throws JobFailedException {
        assignIfDue();
        return claimNow();
    }

    /** One loader computes the numbers, without the lock; the others use the former ones meanwhile. */
    private void assignIfDue() {
        if (!assigning.compareAndSet(false, true)) {
            return;
        }
        try {
            List<RankQueue> now = dueForAssignment();
            if (!now.isEmpty()) {
                int[] numbers = assignment.assign(now, loaders);
                synchronized (this) {
                    for (int i = 0; i < numbers.length; i++) {
                        now.get(i).assign(numbers[i]);
                    }
                }
            }
        } finally {
            assigning.set(false);
        }
    }

    private synchronized List<RankQueue> dueForAssignment() {
        long now = clockNs.getAsLong();
        if (isWaiting(now) || (!stale && now - assignedAtNs < ASSIGN_EVERY_NS)) {
            return List.of();
        }
        assignedAtNs = now;
        stale = false;
        return List.copyOf(queues);
    }

    private boolean isWaiting(long now) {
        long waited = now - addedAtNs;
        return queues.isEmpty()
                || (waited < PLAN_PATIENCE_NS
                        && planPending.getAsBoolean()
                        && (waited < READING_PATIENCE_NS
                                || queues.stream()
                                        .noneMatch(queue -> queue.job().hasBegun())));
    }

    private synchronized @Nullable Claim claimNow() throws JobFailedException {
        if (claimed == loaders || isWaiting(clockNs.getAsLong())) {
            return null;
        }
        queues.sort(MOST_LACKING);
        long share = shareBytes();
        for (RankQueue queue : queues) {
            if (queue.lacking() <= 0 && !assignment.lendsIdleLoaders()) {
                return null;
            }
            StreamWindow.ToStage what = next(queue, share);
            if (what != null) {
                queue.begin();
                claimed++;
                return new Claim(queue, what, share, claims++);
            }
        }
        return null;
    }

    private static StreamWindow.@Nullable ToStage next(RankQueue queue, long share) throws JobFailedException {
        try {
            return queue.rankStream().nextToStage(share);
        } catch (InvalidSpecException e) {
            throw new JobFailedException(queue.job(), e);
        }
    }

    /** The loader of this claim is free again; may be called twice. */
    synchronized void done(Claim claim) {
        if (!claim.done) {
            claim.done = true;
            claim.queue.end();
            claimed--;
        }
    }

    /**
     * How long the fetch of this claim may take so that its trainer waits for nothing, seconds: as long as its loaders have for one sample each, so
     * that they keep up with it, but no longer than it can go on with what is staged. While half of its share of the staging buffer is
     * staged they need not keep up: a fetch may take as long as the trainer reads half of that. So the amount staged
     * decides, as in buffer-based rate adaptation (Huang et al., SIGCOMM 2014). While the trainer's pace is not known, its samples are
     * either in no hurry, because it has not begun or much is staged, or in all hurry.
     */
    double spareSeconds(Claim claim) {
        RankStream stream = claim.queue.rankStream();
        int working;
        long half;
        synchronized (this) {
            working = Math.max(1, claim.queue.assigned());
            half = queues.isEmpty() ? 0 : claim.shareBytes / 2;
        }
        boolean hungry = stream.isHungry(half);
        double keepingUp = stream.secondsOf(working);
        if (keepingUp == 0) {
            return claim.queue.job().hasBegun() && hungry ? 0 : NO_HURRY_SECONDS;
        }
        double staged = stream.secondsStaged();
        return hungry ? Math.min(staged, keepingUp) : Math.max(staged / 2, Math.min(staged, keepingUp));
    }

    /** Whether a rank has less than half of its share of the staging buffer staged, and more to stage. */
    synchronized boolean isHungry() {
        long half = shareBytes() / 2;
        for (RankQueue queue : queues) {
            if (queue.rankStream().isHungry(half)) {
                return true;
            }
        }
        return false;
    }

    /** Whether all ranks that read here have read all: nothing need be brought ahead any more. */
    synchronized boolean isDone() {
        return readElsewhere.isEmpty()
                && !queues.isEmpty()
                && queues.stream().allMatch(queue -> queue.job().position() == AccessStream.END);
    }

    /** What each rank may have staged; one that has read all needs none. Takes the lock of each job. */
    private long shareBytes() {
        long reading =
                queues.stream().filter(queue -> !queue.rankStream().isAtEnd()).count();
        return stagingBytes / Math.max(1, reading);
    }

    /** How many loaders are assigned to each rank of a job now. */
    synchronized int[] assigned(JobRun job) {
        int[] assigned = new int[job.streams()];
        for (RankQueue queue : queues) {
            if (queue.job() == job) {
                assigned[queue.stream()] = queue.assigned();
            }
        }
        return assigned;
    }
}
