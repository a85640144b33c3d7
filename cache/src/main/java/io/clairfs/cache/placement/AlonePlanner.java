package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.Planner;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Plans for a node alone: from where its trainers are, for all epochs whose orders are known ({@link PlannedEpochs}), and with preference for
 * what it holds already.
 *
 * <p>Life cycle: of its {@link NodePlanner}; it keeps nothing between plans.
 */
final class AlonePlanner {
    /** How often the same plan is made because tiers were filled meanwhile. */
    private static final int MOST_LOOKS = 3;

    private static final long LONG_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final DatasetTree tree;
    private final Admission admission;
    private final PerformanceModel model;
    private final PlacementPolicy policy;
    private final PlanLimits limits;
    private final PlannedEpochs epochs;
    private final Planner planner;

    AlonePlanner(
            DatasetTree tree, Admission admission, PerformanceModel model, PlacementPolicy policy, PlanLimits limits) {
        this.tree = tree;
        this.admission = admission;
        this.model = model;
        this.policy = policy;
        this.limits = limits;
        epochs = new PlannedEpochs(limits);
        planner = new Planner(limits);
    }

    /** A plan for these jobs, as far as their orders are not among the missing. */
    LocalPlan plan(Group now, List<JobRun> jobs, MissingOrders missing) throws InvalidSpecException {
        PlannedJobs planned = planned(now, jobs, missing);
        planned.requireAny();
        BetweenTrainings between = between(now, jobs);
        Placement placement = place(between == null ? now : now.withoutMemory(between.roomBytes()), planned.needs());
        Placed placed = new Placed(
                placement,
                now.self(),
                null,
                List.of(),
                0,
                null,
                between,
                planned.readings(),
                planned.leftOut(),
                null,
                planned.isOver(),
                new int[0][]);
        return placed.filledFromHere(admission.residents().tiers().size());
    }

    private PlannedJobs planned(Group now, List<JobRun> jobs, MissingOrders missing) throws InvalidSpecException {
        PlannedJobs planned = new PlannedJobs(missing);
        for (JobRun job : jobs) {
            int epoch = Math.min(job.epoch(), job.spec().epochs());
            if (planned.leavesOut(job, epoch)) {
                continue;
            }
            int end = missing.end(job, epochs.knownEnd(job, epoch));
            EpochSource orders = missing.of(job, job.plannerOrders().sampler());
            Need need = PlannedJobs.need(
                    job, orders, epoch, end, now, IntUnaryOperator.identity(), readsEverythingHere(job, epoch));
            planned.add(job, need, FillOrders.Reading.here(job, AccessStream.position(epoch, 0)));
            if (end < job.spec().epochs()) {
                planned.holdsUntil(PlannedEpochs.notAtOnce(
                        missing.isAnyOf(job),
                        () -> job.epoch() >= end - 1 && job.plannerOrders().isReady(end)));
            } else if (!need.sameInEveryEpoch() && epoch + limits.epochs(need) < end) {
                int last = epoch + limits.epochs(need) - 1; // of those that the plan looks at
                planned.holdsUntil(() -> job.epoch() >= last);
            }
        }
        return planned;
    }

    private @Nullable BetweenTrainings between(Group now, List<JobRun> jobs) {
        long[] capacities = now.storages().get(now.self()).classes().stream()
                .mapToLong(StorageClass::capacityBytes)
                .toArray();
        if (capacities.length == 0) {
            return null;
        }
        BetweenTrainings between = BetweenTrainings.of(
                jobs, capacities[0], Arrays.stream(capacities).sum(), tree::keptSize);
        BetweenTrainings before = admission.plan().between();
        if (between != null && before != null) {
            between.takeOver(before);
        }
        return between;
    }

    /** Plans again if tiers were filled meanwhile with samples that the placement does not keep, as long as planning is quick. */
    private Placement place(Group now, List<Need> needs) throws InvalidSpecException {
        int files = tree.entryCount();
        for (int look = 1; ; look++) {
            long start = System.nanoTime();
            HeldNow held = new HeldNow(files, admission.residents());
            PlanRequest request = new PlanRequest(files, tree::keptSize, needs, now.storages(), model, held);
            Placement placement = planner.plan(request, policy).onlyFor(now.self());
            boolean isLast = look == MOST_LOOKS || System.nanoTime() - start > LONG_LOOK_NS;
            if (isLast || !held.hasGrownBeside(file -> placement.storageClass(now.self(), file) != Placement.NONE)) {
                return placement;
            }
        }
    }

    /** Whether this node reads the whole dataset in every epoch. Only orders that the user wrote may differ in what they read. */
    private static boolean readsEverythingHere(JobRun job, int epoch) throws InvalidSpecException {
        JobSpec spec = job.spec();
        if (job.streams() < spec.world() || spec.readsOrderFiles() || epoch >= spec.epochs()) {
            return false;
        }
        EpochOrder order = job.orders().peek(epoch);
        BitSet read = new BitSet(job.index().size()); // with replacement some are read twice, and others not at all
        for (int rank = 0; rank < spec.world(); rank++) {
            int length = order.length(rank);
            for (int step = 0; step < length; step++) {
                read.set(order.sample(rank, step));
            }
        }
        return read.cardinality() >= job.index().size();
    }
}
