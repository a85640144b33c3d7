package io.clairfs.cache.placement;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.Planner;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Plans on one node of a group: every node makes the same plan from the same facts. It starts where the jobs began, and ignores what a node
 * happens to hold.
 *
 * <p>A job is planned for when it is known where each of its ranks reads. No tier is filled before that: a sample in the wrong place would
 * have to be moved. Which of its epochs the plan is for: {@link PlannedEpochs}. The room that homes leave is filled by next use
 * ({@link ReplicaPlanner}).
 *
 * <p>Where an order moves slowly, samples move with their readers, and there is a plan for each epoch ({@link MovingSamples}). Whether they
 * do follows from the whole job, so that all nodes agree; only the epochs in which they are may differ for a moment.
 *
 * <p>Life cycle: of its {@link NodePlanner}. Between plans it keeps nothing but the facts of such a job, for the thread that plans.
 */
final class GroupPlanner {
    private final DatasetTree tree;
    private final Admission admission;
    private final PerformanceModel model;
    private final PlacementPolicy policy;
    private final PlannedEpochs epochs;
    private final Planner planner;
    private final ReplicaPlanner replicas;

    /** The facts of the last plan where samples move with their readers. */
    private MovingSamples.@Nullable Facts moving;

    GroupPlanner(
            DatasetTree tree, Admission admission, PerformanceModel model, PlacementPolicy policy, PlanLimits limits) {
        this.tree = tree;
        this.admission = admission;
        this.model = model;
        this.policy = policy;
        epochs = new PlannedEpochs(limits);
        planner = new Planner(limits);
        replicas = new ReplicaPlanner(admission, epochs);
    }

    /**
     * A plan for these jobs, as far as their orders are not among the missing; {@link LocalPlan#PENDING} while of none of them it is known where
     * its ranks read.
     *
     * @param numbers of the files, the same on all nodes
     */
    LocalPlan plan(Group now, FileNumbers numbers, List<JobRun> jobs, MissingOrders missing)
            throws InvalidSpecException {
        PlannedJobs planned = planned(now, numbers, jobs, missing);
        planned.requireAny();
        if (planned.isEmpty()) {
            return LocalPlan.PENDING;
        }
        PlanRequest request = new PlanRequest(
                numbers.count(),
                number -> tree.keptSize(numbers.fileOf(number)),
                planned.needs(),
                now.storages(),
                now.model() == null ? model : now.model(),
                Held.NOTHING,
                now.gone());
        MovingSamples.Facts facts = planned.jobs().size() == 1
                ? MovingSamples.Facts.of(
                        planned.jobs().getFirst(), planned.needs().getFirst().nodeOfRank(), now)
                : null;
        if (facts != null && facts.equals(moving)) {
            return planMoving(now, numbers, planned, request);
        }
        Placement placement = planner.plan(request, policy).onlyFor(now.self());
        moving = placement.shouldMove() ? facts : null;
        if (moving != null) {
            return planMoving(now, numbers, planned, request);
        }
        List<JobRun> readHere =
                planned.jobs().stream().filter(job -> job.streams() > 0).toList();
        ReplicaSpace copies = policy == PlacementPolicy.CLAIRFS && readHere.size() == 1
                ? replicas.plan(request, placement, now, numbers, readHere.getFirst())
                : null;
        Placed placed = new Placed(
                placement,
                now.self(),
                numbers,
                now.nodes(),
                digest(placement, now.nodes()),
                copies,
                null,
                planned.readings(),
                planned.leftOut(),
                null,
                planned.isOver(),
                new int[0][]);
        return placed.filledFromHere(admission.residents().tiers().size());
    }

    /** The jobs of which each rank's node is known, in an order that all nodes agree on. */
    private PlannedJobs planned(Group now, FileNumbers numbers, List<JobRun> jobs, MissingOrders missing)
            throws InvalidSpecException {
        PlannedJobs planned = new PlannedJobs(missing);
        List<JobRun> inOrder = jobs.stream()
                .sorted(Comparator.comparing(job -> job.spec().name()))
                .toList();
        for (JobRun job : inOrder) {
            int[] nodes = now.ranks().of(job.spec());
            if (Arrays.stream(nodes).noneMatch(node -> node == Group.RankNodes.UNKNOWN)) {
                add(job, nodes, now, numbers, planned, missing);
            }
        }
        return planned;
    }

    /** Adds a job whose ranks read on these nodes, unless it has to be left out. */
    private void add(
            JobRun job, int[] nodes, Group now, FileNumbers numbers, PlannedJobs planned, MissingOrders missing)
            throws InvalidSpecException {
        boolean hasFiles = PlannedEpochs.hasFileOfEachEpoch(job.spec());
        int start =
                hasFiles ? PlannedEpochs.epochToPlan(job, missing) : job.spec().startEpoch();
        if (planned.leavesOut(job, start)) {
            return;
        }
        boolean isAnyMissing = missing.isAnyOf(job);
        boolean areAllSeen = !isAnyMissing && (!hasFiles || epochs.areAllSeen(job, start));
        int end = areAllSeen ? job.spec().epochs() : start + 1;
        EpochSource orders = missing.of(job, job.plannerOrders().sampler());
        Need need = PlannedJobs.need(job, orders, start, end, now, numbers::numberOf, /* same */ false);
        if (start != job.spec().startEpoch()) {
            planned.holdsUntil(PlannedEpochs.endsSoon(job, start));
        }
        if (!areAllSeen) {
            planned.holdsUntil(epochs.areAllSeenSoon(job, start, isAnyMissing));
        }
        int[] ranks = IntStream.range(0, nodes.length)
                .filter(rank -> now.isHere(nodes[rank]))
                .toArray();
        planned.add(job, need, new FillOrders.Reading(job, ranks, AccessStream.position(start, 0)));
    }

    /** The plan of the epoch in which the only job is, from a request for all its epochs. */
    private LocalPlan planMoving(Group now, FileNumbers numbers, PlannedJobs planned, PlanRequest all)
            throws InvalidSpecException {
        JobRun job = planned.jobs().getFirst();
        MovingSamples samples = MovingSamples.now(job);
        HeldNow held = new HeldNow(tree.entryCount(), admission.residents());
        PlanRequest request = samples.request(all, (node, number) -> held.classOf(node, numbers.fileOf(number)));
        Placement placement = planner.follow(request).onlyFor(now.self());
        int[] ranks = planned.readings().getFirst().ranks();
        long start = AccessStream.position(samples.epoch(), 0);
        Placed placed = new Placed(
                placement,
                now.self(),
                numbers,
                now.nodes(),
                digest(placement, now.nodes()),
                null,
                null,
                List.of(new FillOrders.Reading(job, ranks, start)),
                planned.leftOut(),
                samples.exchange(),
                samples.isOver(),
                new int[0][]);
        return placed.filledFromHere(admission.residents().tiers().size());
    }

    private static long digest(Placement placement, List<UUID> nodes) {
        CRC32C digest = new CRC32C();
        for (UUID node : nodes) {
            digest.update(node.toString().getBytes(US_ASCII));
        }
        for (int sample = 0; sample < placement.samples(); sample++) {
            int home = placement.home(sample);
            digest.update(home >> Byte.SIZE);
            digest.update(home);
        }
        return digest.getValue();
    }
}
