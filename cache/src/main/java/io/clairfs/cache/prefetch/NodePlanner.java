package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
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
import java.util.List;

/** Plans for a node that is on its own: everything that its jobs' local ranks will read, over what its tiers can hold. */
public final class NodePlanner implements JobPlanner {
    private static final int THIS_NODE = 0;
    private static final int ELSEWHERE = -1;

    private final DatasetTree tree;
    private final TierKeeper keeper;
    private final NodeStorage storage;
    private final PerformanceModel model;
    private final PlacementPolicy policy;
    private final Planner planner;

    /**
     * @param storage one class for each tier of {@code keeper}, in their order
     */
    public NodePlanner(
            DatasetTree tree,
            TierKeeper keeper,
            NodeStorage storage,
            PerformanceModel model,
            PlacementPolicy policy,
            PlanLimits limits) {
        this.tree = tree;
        this.keeper = keeper;
        this.storage = storage;
        this.model = model;
        this.policy = policy;
        planner = new Planner(limits);
    }

    @Override
    public LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException {
        List<Need> needs = new ArrayList<>();
        for (JobRun job : jobs) {
            needs.add(need(job));
        }
        int files = tree.entryCount();
        PlanRequest request = new PlanRequest(
                files, tree::fileSize, needs, List.of(storage), model, (_, file) -> keeper.isHere(file));
        Placement placement = planner.plan(request, policy).onlyFor(THIS_NODE);
        return file -> file < files ? placement.storageClass(THIS_NODE, file) : LocalPlan.NOWHERE;
    }

    private static Need need(JobRun job) throws InvalidSpecException {
        JobSpec spec = job.spec();
        int[] nodeOfRank = new int[spec.world()];
        Arrays.fill(nodeOfRank, ELSEWHERE);
        Arrays.fill(nodeOfRank, spec.firstRank(), spec.lastRank() + 1, THIS_NODE);
        int epoch = Math.min(job.epoch(), spec.epochs());
        // A sampler of its own: planning looks at many epochs, and the job's few are in use.
        return new Need(spec.sampler(job.index())::epoch, job.index()::file, epoch, spec.epochs(), nodeOfRank);
    }
}
