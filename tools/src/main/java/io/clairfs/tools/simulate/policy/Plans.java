package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.Planner;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Collections;
import java.util.List;

/** Runs the daemon's planner for a scenario. */
final class Plans {
    private Plans() {}

    static Placement of(Setup setup, PlacementPolicy policy) throws UnsupportedScenarioException {
        int[] sizes = setup.load().sizes();
        PlanRequest request = new PlanRequest(
                sizes.length,
                sample -> sizes[sample],
                List.of(setup.load().need()),
                Collections.nCopies(setup.nodes(), setup.scenario().storage()),
                setup.scenario().model());
        try {
            Placement placement = new Planner(PlanLimits.DEFAULT).plan(request, policy);
            placement.packAll(PlanLimits.DEFAULT.threads()); // all nodes are simulated
            return placement;
        } catch (InvalidSpecException e) {
            throw new UnsupportedScenarioException(String.valueOf(e.getMessage()));
        }
    }
}
