package io.clairfs.cache.plan;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.stream.IntStream;

/** Plans for a request, and what their placements say of each sample. */
abstract class PlannerFixture {
    static final int NONE = Placement.NONE;

    static Placement plan(PlanRequest request) throws InvalidSpecException {
        return plan(request, PlacementPolicy.CLAIRFS);
    }

    static Placement plan(PlanRequest request, PlacementPolicy policy) throws InvalidSpecException {
        return new Planner(PlanLimits.DEFAULT).plan(request, policy);
    }

    static int[] homes(Placement placement) {
        return IntStream.range(0, placement.samples()).map(placement::home).toArray();
    }

    static int[] classes(Placement placement, int node) {
        return IntStream.range(0, placement.samples())
                .map(sample -> placement.storageClass(node, sample))
                .toArray();
    }
}
