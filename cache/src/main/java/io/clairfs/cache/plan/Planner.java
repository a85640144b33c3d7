package io.clairfs.cache.plan;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.CoverageFirst;
import io.clairfs.cache.plan.policy.FirstReaderHolds;
import io.clairfs.cache.plan.policy.FollowReaders;
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
        UseTally tally = new UseTally(request, limits);
        UseTable uses = tally.tally();
        Rooms rooms = new Rooms(request, uses);
        Prices prices = new Prices(request);
        if (policy == PlacementPolicy.NOPFS) {
            OwnMostFrequent own = new OwnMostFrequent(request, uses, rooms);
            Homes homes = new Heirs(request, uses, rooms, prices).takeOver(own.choose());
            return new Placement(homes, rooms, new NodePacker(request, uses, prices, homes, own), false);
        }
        if (policy == PlacementPolicy.LOBSTER) {
            return homesAndCopies(request, uses, rooms, FirstReaderHolds.choose(request, uses, rooms), false);
        }
        Homes homes = new CoverageFirst(request, uses, rooms, prices).choose();
        return homesAndCopies(request, uses, rooms, homes, tally.shouldMove(homes, rooms));
    }

    /**
     * The placement of one epoch where samples move with their readers ({@link FollowReaders}); takes a fraction of the time of {@link #plan}.
     *
     * @param request about this epoch and the next one
     * @throws InvalidSpecException when the job's sampler refuses one of them
     */
    public Placement follow(PlanRequest request) throws InvalidSpecException {
        UseTable uses = new UseTally(request, limits).tally();
        Rooms rooms = new Rooms(request, uses);
        return homesAndCopies(request, uses, rooms, FollowReaders.choose(request, uses, rooms), true);
    }

    private static Placement homesAndCopies(
            PlanRequest request, UseTable uses, Rooms rooms, Homes chosen, boolean shouldMove) {
        Prices prices = new Prices(request);
        Homes homes = new Heirs(request, uses, rooms, prices).takeOver(chosen);
        Selection selection = new HomesAndCopies(request, uses, rooms, prices, homes);
        return new Placement(homes, rooms, new NodePacker(request, uses, prices, homes, selection), shouldMove);
    }
}
