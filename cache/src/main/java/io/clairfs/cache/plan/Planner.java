package io.clairfs.cache.plan;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.CoverageFirst;
import io.clairfs.cache.plan.policy.FirstReaderHolds;
import io.clairfs.cache.plan.policy.Heirs;
import io.clairfs.cache.plan.policy.Homes;
import io.clairfs.cache.plan.policy.HomesAndCopies;
import io.clairfs.cache.plan.policy.NodePacker;
import io.clairfs.cache.plan.policy.OwnMostFrequent;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.policy.Prices;
import io.clairfs.cache.plan.policy.Rooms;
import io.clairfs.cache.plan.policy.Selection;
import io.clairfs.cache.plan.policy.UseTable;
import io.clairfs.cache.plan.policy.UseTally;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;

/**
 * Turns the reads of all jobs into a placement. A pure function: the same request gives the same placement on every node, with any number
 * of threads.
 *
 * <p>It walks the orders of all jobs once, up to the limits ({@link UseTally}). The policy then chooses homes for all samples, and the samples of
 * nodes that have left get others ({@link Heirs}). Further copies and classes follow node by node, only where asked for ({@link NodePacker}).
 */
public final class Planner {
    private final PlanLimits limits;

    public Planner(PlanLimits limits) {
        this.limits = limits;
    }

    /**
     * Plans by this policy; takes seconds for a million samples.
     *
     * @throws InvalidSpecException when a job's sampler refuses one of the epochs walked
     */
    public Placement plan(PlanRequest request, PlacementPolicy policy) throws InvalidSpecException {
        UseTable uses = new UseTally(request, limits).tally();
        Rooms rooms = new Rooms(request, uses);
        Prices prices = new Prices(request);
        Heirs heirs = new Heirs(request, uses, rooms, prices);
        if (policy == PlacementPolicy.NOPFS) {
            OwnMostFrequent own = new OwnMostFrequent(request, uses, rooms);
            Homes homes = heirs.takeOver(own.choose());
            return new Placement(homes, rooms, new NodePacker(request, uses, prices, homes, own));
        }
        Homes homes = heirs.takeOver(
                policy == PlacementPolicy.LOBSTER
                        ? FirstReaderHolds.choose(request, uses, rooms)
                        : new CoverageFirst(request, uses, rooms, prices).choose());
        Selection selection = new HomesAndCopies(request, uses, rooms, prices, homes);
        return new Placement(homes, rooms, new NodePacker(request, uses, prices, homes, selection));
    }
}
