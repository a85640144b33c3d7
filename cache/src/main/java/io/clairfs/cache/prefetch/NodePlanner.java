package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.Need;
import io.clairfs.cache.plan.NodeStorage;
import io.clairfs.cache.plan.PerformanceModel;
import io.clairfs.cache.plan.Placement;
import io.clairfs.cache.plan.PlacementPolicy;
import io.clairfs.cache.plan.PlanLimits;
import io.clairfs.cache.plan.PlanRequest;
import io.clairfs.cache.plan.Planner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Plans for this node: what the ranks of its jobs will read, over what the tiers of all nodes that plan together can hold.
 *
 * <p>In a group every node makes the same plan from the same facts, so all count from where the jobs began and none from what it happens to hold.
 * Nothing is kept before it is known where every rank of a job reads: what was put in the wrong place would have to be moved.
 */
public final class NodePlanner implements JobPlanner {
    private static final String ORDER_FILE = "order-file";

    private final DatasetTree tree;
    private final TierKeeper keeper;
    private final Supplier<Group> group;
    private final PerformanceModel model;
    private final PlacementPolicy policy;
    private final Planner planner;

    /**
     * A planner.
     *
     * @param group the nodes that plan together, asked for each plan; a node's storage has one class for each tier, in their order
     */
    public NodePlanner(
            DatasetTree tree,
            TierKeeper keeper,
            Supplier<Group> group,
            PerformanceModel model,
            PlacementPolicy policy,
            PlanLimits limits) {
        this.tree = tree;
        this.keeper = keeper;
        this.group = group;
        this.model = model;
        this.policy = policy;
        planner = new Planner(limits);
    }

    /** A planner for a node that is on its own. */
    public static NodePlanner alone(
            DatasetTree tree,
            TierKeeper keeper,
            NodeStorage storage,
            PerformanceModel model,
            PlacementPolicy policy,
            PlanLimits limits) {
        Group alone = Group.alone(storage);
        return new NodePlanner(tree, keeper, () -> alone, model, policy, limits);
    }

    @Override
    public LocalPlan meanwhile() {
        return group.get().isAlone() ? LocalPlan.WHILE_ROOM : LocalPlan.PENDING;
    }

    @Override
    public LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException {
        Group now = group.get();
        FileNumbers numbers = now.numbers();
        return numbers == null ? planAlone(now, jobs) : planTogether(now, numbers, jobs);
    }

    private LocalPlan planAlone(Group now, List<JobRun> jobs) throws InvalidSpecException {
        List<Need> needs = new ArrayList<>();
        for (JobRun job : jobs) {
            int epoch = Math.min(job.epoch(), job.spec().epochs());
            needs.add(need(job, epoch, now, IntUnaryOperator.identity(), readsEverythingHere(job, epoch)));
        }
        int files = tree.entryCount();
        BitSet held = held(files);
        PlanRequest request =
                new PlanRequest(files, tree::fileSize, needs, now.storages(), model, (_, file) -> held.get(file));
        Placement placement = planner.plan(request, policy).onlyFor(now.self());
        return file -> file < files ? placement.storageClass(now.self(), file) : LocalPlan.NOWHERE;
    }

    private LocalPlan planTogether(Group now, FileNumbers numbers, List<JobRun> jobs) throws InvalidSpecException {
        List<Need> needs = new ArrayList<>();
        for (JobRun job : jobs) {
            if (Arrays.stream(now.ranks().of(job.spec())).anyMatch(node -> node == Group.RankNodes.UNKNOWN)) {
                return LocalPlan.PENDING;
            }
            needs.add(need(job, job.spec().startEpoch(), now, numbers::numberOf, false));
        }
        PlanRequest request = new PlanRequest(
                numbers.count(), number -> tree.fileSize(numbers.fileOf(number)), needs, now.storages(), model);
        return new PlacedTogether(planner.plan(request, policy).onlyFor(now.self()), numbers, now.self());
    }

    private record PlacedTogether(Placement placement, FileNumbers numbers, int self) implements LocalPlan {
        @Override
        public int tierOf(int file) {
            int number = numbers.numberOf(file);
            return number == FileNumbers.NONE ? NOWHERE : placement.storageClass(self, number);
        }

        @Override
        public int homeOf(int file) {
            int number = numbers.numberOf(file);
            return number == FileNumbers.NONE ? NOWHERE : placement.home(number);
        }
    }

    private BitSet held(int files) {
        BitSet held = new BitSet(files);
        for (int file = 0; file < files; file++) {
            held.set(file, keeper.isHere(file));
        }
        return held;
    }

    private static Need need(JobRun job, int firstEpoch, Group now, IntUnaryOperator numberOf, boolean same)
            throws InvalidSpecException {
        // A sampler of its own: planning looks at many epochs, and the job's few are in use.
        Sampler sampler = job.spec().sampler(job.index());
        IntUnaryOperator sampleOf = sample -> {
            int file = job.index().file(sample);
            return file == SampleIndex.NO_FILE ? -1 : numberOf.applyAsInt(file);
        };
        return new Need(
                sampler::epoch,
                sampleOf,
                firstEpoch,
                job.spec().epochs(),
                now.ranks().of(job.spec()),
                same);
    }

    /** Only orders that the user wrote may differ in what they read. */
    private static boolean readsEverythingHere(JobRun job, int epoch) throws InvalidSpecException {
        JobSpec spec = job.spec();
        if (job.streams() < spec.world() || spec.sampler().equals(ORDER_FILE) || epoch >= spec.epochs()) {
            return false;
        }
        EpochOrder order = job.orders().peek(epoch);
        long reads = 0;
        for (int rank = 0; rank < spec.world(); rank++) {
            reads += order.length(rank);
        }
        return reads >= job.index().size();
    }
}
