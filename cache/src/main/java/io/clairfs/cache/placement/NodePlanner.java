package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import java.util.List;
import java.util.function.Supplier;

/**
 * Plans for this node: distributes what the ranks of its jobs will read over the tiers of all nodes that plan together. How a node alone plans
 * is in {@link AlonePlanner}, how one of a group does in {@link GroupPlanner}.
 *
 * <p>A node that does not see the file from which it would plan a job, or gets no answer about it, leaves the job out until it does: its plan is
 * that of the other jobs. A later file that does not answer counts as one that is not there ({@link MissingOrders}). None is waited for longer than a
 * moment ({@link io.clairfs.cache.order.PlannerOrders}).
 *
 * <p>Life cycle: it keeps nothing between plans but the facts of a job whose samples move ({@link GroupPlanner}), and has nothing to close.
 * {@link Planning} calls {@link #plan} and {@link #refilled} without a lock, {@link #meanwhile} under its lock. It has no lock of its own; a
 * plan takes those of jobs, orders and resident samples, and holds none while it computes a placement.
 */
public final class NodePlanner implements JobPlanner {
    private final Admission admission;
    private final Supplier<Group> group;
    private final AlonePlanner alone;
    private final GroupPlanner together;

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
        this.admission = admission;
        this.group = group;
        alone = new AlonePlanner(tree, admission, model, policy, limits);
        together = new GroupPlanner(tree, admission, model, policy, limits);
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
                return numbers == null ? alone.plan(now, jobs, missing) : together.plan(now, numbers, jobs, missing);
            } catch (InvalidSpecException e) {
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
}
