package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderFileSampler;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.request.PlanLimits;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;

/**
 * Which epochs of a job a plan is for, and whether that has changed since.
 *
 * <p>Where each epoch has an order file of its own, the nodes of a group plan for all epochs if all files are there, else for one: the
 * first, or, after its file was removed, the one in which the trainers are. One may see files later than another, so for a minute a plan for one
 * epoch gives way to one for all. A node alone plans for all epochs whose files are there.
 *
 * <p>Keeps nothing of a job; what it returns to be asked later takes the locks of the job and its orders.
 */
final class PlannedEpochs {
    /**
     * How long after one node of a group another may plan for the same reason: what happened reaches them within seconds, and a plan that failed
     * is tried again after half a minute.
     */
    private static final long NODES_APART_NS = TimeUnit.SECONDS.toNanos(60);

    /** How soon a plan is made again that had to do without an order: a plan takes a while. */
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(30);

    private final PlanLimits limits;

    PlannedEpochs(PlanLimits limits) {
        this.limits = limits;
    }

    /** Whether each epoch has an order file of its own, which may be written after the job began, and removed when the epoch is over. */
    static boolean hasFileOfEachEpoch(JobSpec spec) {
        return spec.readsOrderFiles() && spec.keys().getOrDefault("file", "").contains(OrderFileSampler.EPOCH);
    }

    /**
     * The epoch for which a group plans such a job. While the file of the first one is there, where a trainer is does not matter, so that a node
     * that plans late plans as the others did. Where the file does not answer, that is not known, and all of the job's orders are missing.
     */
    static int epochToPlan(JobRun job, MissingOrders missing) throws InvalidSpecException {
        int start = job.spec().startEpoch();
        int now = epochOfTrainers(job);
        if (now == start || missing.isAllOf(job, 0)) {
            return start;
        }
        try {
            // Not what the job keeps, for the file may be gone for the other nodes.
            return job.plannerOrders().isThere(start) ? start : now;
        } catch (OrderNotReadyException e) {
            missing.add(job, 0, e);
            return start;
        }
    }

    /** The epoch in which the job's trainers are, or its last one. */
    private static int epochOfTrainers(JobRun job) {
        return Math.min(job.epoch(), job.spec().epochs() - 1);
    }

    /**
     * Whether the trainers go on to another epoch so soon after this that other nodes may have planned for that one; then this node does, too.
     * Later it does not: each such plan moves samples.
     */
    static BooleanSupplier endsSoon(JobRun job, int epoch) {
        long plannedNs = System.nanoTime();
        return () -> System.nanoTime() - plannedNs < NODES_APART_NS && epochOfTrainers(job) != epoch;
    }

    /** Whether the order files of all epochs that a plan looks at are there now. A sampler that has waited for one would say no until it is read. */
    boolean areAllSeen(JobRun job, int start) throws InvalidSpecException {
        Sampler now = job.plannerOrders().sampler();
        return knownEnd(job.spec(), start, now::isReady) == job.spec().epochs();
    }

    /**
     * Whether all files are there so soon after this that other nodes may have seen them before. Where an order was missing it is not looked for
     * at once.
     */
    BooleanSupplier areAllSeenSoon(JobRun job, int start, boolean isAnyMissing) {
        long notBeforeNs = isAnyMissing ? AGAIN_NS : 0;
        long plannedNs = System.nanoTime();
        return () -> {
            long since = System.nanoTime() - plannedNs;
            try {
                return since >= notBeforeNs && since < NODES_APART_NS && areAllSeen(job, start);
            } catch (InvalidSpecException e) {
                return false; // the job's ranks meet it themselves
            }
        };
    }

    /** As {@code cut}; where an order was missing not at once, for it may be there and invalid. */
    static BooleanSupplier notAtOnce(boolean isAnyMissing, BooleanSupplier cut) {
        long plannedNs = System.nanoTime();
        return () -> (!isAnyMissing || System.nanoTime() - plannedNs >= AGAIN_NS) && cut.getAsBoolean();
    }

    /** Whether the order that this job is planned from is there by now. Not looked for at once, for a plan takes a while and may fail again. */
    static BooleanSupplier isThereLater(JobRun job, int epoch) {
        long plannedNs = System.nanoTime();
        return () -> System.nanoTime() - plannedNs >= AGAIN_NS
                && (isThere(job, epoch) || isThere(job, epochOfTrainers(job)));
    }

    private static boolean isThere(JobRun job, int epoch) {
        try {
            return job.plannerOrders().isThere(epoch);
        } catch (InvalidSpecException e) {
            return false; // the job's ranks meet it themselves
        }
    }

    /**
     * The end of the epochs that this node can look at: that of the job, or an earlier one where orders are still to be written. Other nodes may see
     * another end.
     */
    int knownEnd(JobRun job, int firstEpoch) {
        return knownEnd(job.spec(), firstEpoch, job.plannerOrders()::isReady);
    }

    private int knownEnd(JobSpec spec, int firstEpoch, IntPredicate isReady) {
        int end = spec.epochs();
        int most = end == JobSpec.UNLIMITED ? limits.epochsWhenEndless() : limits.mostEpochs();
        for (long epoch = firstEpoch + 1L; epoch < Math.min(end, (long) firstEpoch + most); epoch++) {
            if (!isReady.test((int) epoch)) {
                return (int) epoch;
            }
        }
        return end;
    }
}
