package io.clairfs.tools.simulate;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.InvalidScenarioException;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/** Runs scenarios. */
public final class Simulator {
    private Simulator() {}

    /** Receives the progress of a simulation. */
    public interface Listener {
        /** The next policy begins; it has this many iterations. */
        void begin(String policy, long iterations);

        /** This many iterations of the policy are done. */
        void at(long iterations);

        /** The policy is done. */
        void end();
    }

    /**
     * Runs a scenario under each of these policies.
     *
     * @throws InvalidScenarioException with one line, if the scenario cannot be run at all
     */
    public static SimulationReport run(Scenario scenario, List<String> policies, Listener listener)
            throws InvalidScenarioException {
        Workload load = new Workload(scenario);
        long iterations = (long) load.iterations() * scenario.epochs();
        List<PolicyResult> results = new ArrayList<>();
        double bound = Double.NaN;
        try {
            for (String name : policies) {
                if (!name.equals(Policies.LOWER_BOUND)) {
                    listener.begin(name, iterations);
                    Simulation.Outcome outcome = Simulation.run(scenario, load, name, thinned(listener));
                    listener.end();
                    results.add(outcome.result());
                    bound = Double.isNaN(bound) ? outcome.lowerBoundSeconds() : bound;
                }
            }
            if (Double.isNaN(bound)) {
                listener.begin(Policies.LOWER_BOUND, iterations);
                bound = Simulation.lowerBound(scenario, load, thinned(listener));
                listener.end();
            }
            return new SimulationReport(scenario, bound, results);
        } catch (InvalidSpecException e) {
            throw new InvalidScenarioException(scenario.name() + ": " + e.getMessage());
        }
    }

    private static LongConsumer thinned(Listener listener) {
        return iterations -> {
            if ((iterations & 0xff) == 0) {
                listener.at(iterations);
            }
        };
    }
}
