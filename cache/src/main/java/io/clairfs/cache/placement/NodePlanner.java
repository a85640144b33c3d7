package io.clairfs.cache.placement;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderFileSampler;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.NextUse;
import io.clairfs.cache.plan.Planner;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Plans for this node: distributes what the ranks of its jobs will read over the tiers of all nodes that plan together.
 *
 * <p>In a group every node makes the same plan from the same facts: it starts where the jobs began, and ignores what a node happens to
 * hold. A job is planned for when it is known where each of its ranks reads. No tier is filled before that: a sample in the wrong place would
 * have to be moved.
 *
 * <p>Where each epoch has an order file of its own, the nodes of a group plan for all epochs if all files are there, else for one: the
 * first, or, after its file was removed, the one in which the trainers are. One may see files later than another, so for a minute a plan for one
 * epoch gives way to one for all. A node alone plans for all epochs whose files are there.
 *
 * <p>A node that does not see the file from which it would plan a job, or gets no answer about it, leaves the job out until it does: its plan is
 * that of the other jobs. A later file that does not answer counts as one that is not there ({@link MissingOrders}). None is waited for longer than a
 * moment ({@link io.clairfs.cache.order.PlannerOrders}).
 *
 * <p>Where an order moves slowly, samples move with their readers, and there is a plan for each epoch ({@link MovingSamples}). Whether they
 * do follows from the whole job, so that all nodes agree; only the epochs in which they are may differ for a moment.
 *
 * <p>Life cycle: it keeps nothing between plans but the facts of such a job, and has nothing to close. {@link Planning} calls {@link #plan}
 * and {@link #refilled} without a lock, {@link #meanwhile} under its lock. It has no lock of its own; a plan takes those of jobs, orders and resident samples,
 * and holds none while it computes a placement.
 */
public final class NodePlanner implements JobPlanner {
    /** How often a node alone makes the same plan because its tiers were filled meanwhile. */
    private static final int MOST_LOOKS = 3;

    private static final long LONG_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);

    /**
     * How long after one node of a group another may plan for the same reason: what happened reaches them within seconds, and a plan that failed
     * is tried again after half a minute.
     */
    private static final long NODES_APART_NS = TimeUnit.SECONDS.toNanos(60);

    /** How soon a plan is made again that had to do without an order: a plan takes a while. */
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(30);

    private final DatasetTree tree;
    private final Admission admission;
    private final Supplier<Group> group;
    private final PerformanceModel model;
    private final PlacementPolicy policy;
    private final PlanLimits limits;
    private final Planner planner;

    /** The facts of the last plan where samples move with their readers; for the thread that plans. */
    private MovingSamples.@Nullable Facts moving;

    /**
     * A planner.
     *
     * @param group the nodes that plan together, asked for each plan; a node's storage has one class for each tier, in their order
     */
    public NodePlanner(
            DatasetTree tree,
            Admission admission,
            Supplier<Group> group,
            PerformanceModel model,
            PlacementPolicy policy,
            PlanLimits limits) {
        this.tree = tree;
        this.admission = admission;
        this.group = group;
        this.model = model;
        this.policy = policy;
        this.limits = limits;
        planner = new Planner(limits);
    }

    /** A planner for a node alone, whose storage is asked for each plan. */
    public static NodePlanner alone(
            DatasetTree tree,
            Admission admission,
            Supplier<NodeStorage> storage,
            PerformanceModel model,
            PlacementPolicy policy,
            PlanLimits limits) {
        return new NodePlanner(tree, admission, () -> Group.alone(storage.get()), model, policy, limits);
    }

    @Override
    public LocalPlan meanwhile() {
        return group.get().isAlone() ? LocalPlan.WHILE_ROOM : LocalPlan.PENDING;
    }

    @Override
    public LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException {
        Group now = group.get();
        FileNumbers numbers = now.numbers();
        jobs.forEach(job -> job.plannerOrders().beginPlan());
        MissingOrders missing = new MissingOrders();
        while (true) {
            try {
                return numbers == null ? planAlone(now, jobs, missing) : planTogether(now, numbers, jobs, missing);
            } catch (OrderNotReadyException e) {
                if (!missing.takeNews()) {
                    throw e;
                }
            }
        }
    }

    @Override
    public LocalPlan refilled(LocalPlan plan) throws InvalidSpecException {
        return plan instanceof Placed placed
                ? placed.filledFromHere(admission.residents().tiers().size())
                : plan;
    }

    private LocalPlan planAlone(Group now, List<JobRun> jobs, MissingOrders missing) throws InvalidSpecException {
        List<Need> needs = new ArrayList<>();
        List<FillOrders.Reading> readings = new ArrayList<>();
        List<BooleanSupplier> cuts = new ArrayList<>();
        List<JobRun> leftOut = new ArrayList<>();
        for (JobRun job : jobs) {
            int epoch = Math.min(job.epoch(), job.spec().epochs());
            if (missing.isAllOf(job, epoch)) {
                leftOut.add(job);
                cuts.add(isThereLater(job, epoch));
                continue;
            }
            int end = missing.end(job, knownEnd(job, epoch));
            EpochSource orders = missing.of(job, job.plannerOrders().sampler());
            Need need =
                    need(job, orders, epoch, end, now, IntUnaryOperator.identity(), readsEverythingHere(job, epoch));
            needs.add(need);
            readings.add(FillOrders.Reading.here(job, AccessStream.position(epoch, 0)));
            if (end < job.spec().epochs()) {
                cuts.add(() -> job.epoch() >= end - 1 && job.plannerOrders().isReady(end));
            } else if (!need.sameInEveryEpoch() && epoch + limits.epochs(need) < end) {
                int last = epoch + limits.epochs(need) - 1; // of those that the plan looks at
                cuts.add(() -> job.epoch() >= last);
            }
        }
        requireAny(needs, leftOut, missing);
        int files = tree.entryCount();
        BetweenTrainings between = between(now, jobs);
        Placement placement = place(between == null ? now : now.withoutMemory(between.roomBytes()), files, needs);
        BooleanSupplier isOver = () -> cuts.stream().anyMatch(BooleanSupplier::getAsBoolean);
        Placed placed = new Placed(
                placement,
                now.self(),
                null,
                List.of(),
                0,
                null,
                between,
                List.copyOf(readings),
                missing.lines(leftOut),
                null,
                isOver,
                new int[0][]);
        return placed.filledFromHere(admission.residents().tiers().size());
    }

    /** Refuses a plan that would leave out all jobs. */
    private static void requireAny(List<Need> needs, List<JobRun> leftOut, MissingOrders missing)
            throws OrderNotReadyException {
        if (needs.isEmpty() && !leftOut.isEmpty()) {
            throw missing.why(leftOut.getFirst());
        }
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
    private Placement place(Group now, int files, List<Need> needs) throws InvalidSpecException {
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

    private LocalPlan planTogether(Group now, FileNumbers numbers, List<JobRun> jobs, MissingOrders missing)
            throws InvalidSpecException {
        List<Need> needs = new ArrayList<>();
        List<JobRun> planned = new ArrayList<>();
        List<JobRun> leftOut = new ArrayList<>();
        List<FillOrders.Reading> readings = new ArrayList<>();
        List<BooleanSupplier> cuts = new ArrayList<>();
        List<JobRun> inOrder = jobs.stream()
                .sorted(Comparator.comparing(job -> job.spec().name()))
                .toList();
        for (JobRun job : inOrder) {
            int[] nodes = now.ranks().of(job.spec());
            if (Arrays.stream(nodes).noneMatch(node -> node == Group.RankNodes.UNKNOWN)) {
                boolean hasFiles = hasFileOfEachEpoch(job.spec());
                int start = hasFiles ? epochToPlan(job, missing) : job.spec().startEpoch();
                if (missing.isAllOf(job, start)) {
                    leftOut.add(job);
                    cuts.add(isThereLater(job, start));
                    continue;
                }
                boolean areAllSeen = !missing.isAnyOf(job) && (!hasFiles || areAllSeen(job, start));
                int end = areAllSeen ? job.spec().epochs() : start + 1;
                EpochSource orders = missing.of(job, job.plannerOrders().sampler());
                needs.add(need(job, orders, start, end, now, numbers::numberOf, false));
                if (start != job.spec().startEpoch()) {
                    cuts.add(endsSoon(job, start));
                }
                if (!areAllSeen) {
                    cuts.add(areAllSeenSoon(job, start, missing.isAnyOf(job) ? AGAIN_NS : 0));
                }
                int[] ranks = IntStream.range(0, nodes.length)
                        .filter(rank -> now.isHere(nodes[rank]))
                        .toArray();
                readings.add(new FillOrders.Reading(job, ranks, AccessStream.position(start, 0)));
                planned.add(job);
            }
        }
        requireAny(needs, leftOut, missing);
        if (needs.isEmpty()) {
            return LocalPlan.PENDING;
        }
        List<String> withoutJobs = missing.lines(leftOut);
        PlanRequest request = new PlanRequest(
                numbers.count(),
                number -> tree.keptSize(numbers.fileOf(number)),
                needs,
                now.storages(),
                now.model() == null ? model : now.model(),
                Held.NOTHING,
                now.gone());
        MovingSamples.Facts facts = planned.size() == 1
                ? MovingSamples.Facts.of(planned.getFirst(), needs.getFirst().nodeOfRank(), now)
                : null;
        if (facts != null && facts.equals(moving)) {
            return planMoving(now, numbers, planned.getFirst(), request, readings.getFirst(), withoutJobs);
        }
        Placement placement = planner.plan(request, policy).onlyFor(now.self());
        moving = placement.shouldMove() ? facts : null;
        if (moving != null) {
            return planMoving(now, numbers, planned.getFirst(), request, readings.getFirst(), withoutJobs);
        }
        List<JobRun> readHere =
                planned.stream().filter(job -> job.streams() > 0).toList();
        ReplicaSpace copies = policy == PlacementPolicy.CLAIRFS && readHere.size() == 1
                ? copies(request, placement, now, numbers, readHere.getFirst())
                : null;
        long digest = digest(placement, now.nodes());
        Placed placed = new Placed(
                placement,
                now.self(),
                numbers,
                now.nodes(),
                digest,
                copies,
                null,
                List.copyOf(readings),
                withoutJobs,
                null,
                () -> cuts.stream().anyMatch(BooleanSupplier::getAsBoolean),
                new int[0][]);
        return placed.filledFromHere(admission.residents().tiers().size());
    }

    /** The plan of the epoch in which the job is, from a request for all its epochs. */
    private LocalPlan planMoving(
            Group now,
            FileNumbers numbers,
            JobRun job,
            PlanRequest all,
            FillOrders.Reading reading,
            List<String> leftOut)
            throws InvalidSpecException {
        MovingSamples samples = MovingSamples.now(job);
        HeldNow held = new HeldNow(tree.entryCount(), admission.residents());
        PlanRequest request = samples.request(all, (node, number) -> held.classOf(node, numbers.fileOf(number)));
        Placement placement = planner.follow(request).onlyFor(now.self());
        long start = AccessStream.position(samples.epoch(), 0);
        Placed placed = new Placed(
                placement,
                now.self(),
                numbers,
                now.nodes(),
                digest(placement, now.nodes()),
                null,
                null,
                List.of(new FillOrders.Reading(job, reading.ranks(), start)),
                leftOut,
                samples.exchange(),
                samples.isOver(),
                new int[0][]);
        return placed.filledFromHere(admission.residents().tiers().size());
    }

    /** Whether each epoch has an order file of its own, which may be written after the job began, and removed when the epoch is over. */
    private static boolean hasFileOfEachEpoch(JobSpec spec) {
        return spec.readsOrderFiles() && spec.keys().getOrDefault("file", "").contains(OrderFileSampler.EPOCH);
    }

    /**
     * The epoch for which a group plans such a job. While the file of the first one is there, where a trainer is does not matter, so that a node
     * that plans late plans as the others did. Where the file does not answer, that is not known, and all of the job's orders are missing.
     */
    private static int epochToPlan(JobRun job, MissingOrders missing) throws InvalidSpecException {
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
    private static BooleanSupplier endsSoon(JobRun job, int epoch) {
        long plannedNs = System.nanoTime();
        return () -> System.nanoTime() - plannedNs < NODES_APART_NS && epochOfTrainers(job) != epoch;
    }

    /** Whether the order files of all epochs that a plan looks at are there now. A sampler that has waited for one would say no until it is read. */
    private boolean areAllSeen(JobRun job, int start) throws InvalidSpecException {
        Sampler now = job.plannerOrders().sampler();
        return knownEnd(job.spec(), start, now::isReady) == job.spec().epochs();
    }

    /**
     * Whether all files are there so soon after this that other nodes may have seen them before.
     *
     * @param notBeforeNs when it is looked for first
     */
    private BooleanSupplier areAllSeenSoon(JobRun job, int start, long notBeforeNs) {
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

    /** Whether the order that this job is planned from is there by now. Not looked for at once, for a plan takes a while and may fail again. */
    private static BooleanSupplier isThereLater(JobRun job, int epoch) {
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
    private int knownEnd(JobRun job, int firstEpoch) {
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

    /** The room that homes leave here; null where there is none, or where all samples with another home fit into it. */
    private @Nullable ReplicaSpace copies(
            PlanRequest request, Placement placement, Group now, FileNumbers numbers, JobRun job)
            throws InvalidSpecException {
        NodeStorage here = now.storages().get(now.self());
        long[] room =
                here.classes().stream().mapToLong(StorageClass::capacityBytes).toArray();
        long elsewhere = 0;
        for (int number = 0; number < numbers.count(); number++) {
            long bytes = request.sizes().bytes(number);
            if (placement.home(number) == now.self()) {
                int tier = placement.storageClass(now.self(), number);
                room[tier] -= here.classes().get(tier).bytesOf(bytes);
            } else if (placement.home(number) != Placement.NONE) {
                elsewhere += here.bytesOf(bytes);
            }
        }
        if (placement.roomForCopies(now.self()) == 0 || placement.roomForCopies(now.self()) >= elsewhere) {
            return null;
        }
        int epoch = Math.min(job.epoch(), job.spec().epochs());
        EpochSource orders = job.plannerOrders().sampler()::epoch;
        Need need = need(job, orders, epoch, knownEnd(job, epoch), now, numbers::numberOf, false);
        NextUse uses;
        try {
            uses = NextUse.of(need, numbers.count(), now.self(), epoch);
        } catch (OrderNotReadyException e) {
            return null; // then the plan names the replicas
        }
        ReplicaSpace copies = new ReplicaSpace(
                numbers,
                request.sizes(),
                here.withCapacities(room),
                uses,
                job::lastEpoch, // readers may wait for this
                epoch,
                job.spec().epochs(),
                job.plannerOrders()::isReady);
        admission.residents().adoptInto(copies, file -> {
            int number = numbers.numberOf(file);
            int home = number == FileNumbers.NONE ? Placement.NONE : placement.home(number);
            return home != Placement.NONE
                    && home != now.self()
                    && admission
                            .residents()
                            .isElsewhere(file); // else it is no replica, but waits for its home to fetch it
        });
        return copies;
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

    /** What a plan needs of a job. Its orders are those of a sampler of its own: planning looks at many epochs, and the job's few are in use. */
    private static Need need(
            JobRun job,
            EpochSource orders,
            int firstEpoch,
            int endEpoch,
            Group now,
            IntUnaryOperator numberOf,
            boolean same) {
        IntUnaryOperator sampleOf = sample -> {
            int file = job.index().file(sample);
            return file == SampleIndex.NO_FILE ? -1 : numberOf.applyAsInt(file);
        };
        return new Need(orders, sampleOf, firstEpoch, endEpoch, now.ranks().of(job.spec()), same);
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
