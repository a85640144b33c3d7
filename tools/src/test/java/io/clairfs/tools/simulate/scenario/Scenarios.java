package io.clairfs.tools.simulate.scenario;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.simulate.PolicyResult;
import io.clairfs.tools.simulate.Simulation;
import io.clairfs.tools.simulate.SimulationReport;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.policy.Policies;
import java.io.IOException;
import java.util.List;

/** The scenarios of the simulator's tests. */
public final class Scenarios {
    /** A file with all keys. */
    public static final String FILE = """
            name: small
            nodes: 2
            compute: 100
            preprocess: 200
            network: 1000
            staging: {capacity: 10, threads: 2, read: 1000, write: 1000}
            classes:
              - {name: memory, capacity: 20, threads: 2, read: 1000, write: 1000}
              - {name: ssd, capacity: 40, threads: 2, read: {1: 300, 2: 500}}
            source: {1: 50, 2: 80}
            dataset: {samples: 400, mean: 0.25, stddev: 0.05}
            epochs: 4
            batch: 5
            drop_last: true
            seed: 7
            sync: bulk
            """;

    public static final Simulator.Listener SILENT = new Simulator.Listener() {
        @Override
        public void begin(String what, long parts) {}

        @Override
        public void at(long parts) {}

        @Override
        public void end() {}
    };

    private Scenarios() {}

    public static Scenario small() throws IOException {
        return ScenarioFile.read("small.yaml", FILE);
    }

    /** A named scenario with at most about this many reads. */
    public static Scenario named(String name, long reads) throws IOException {
        Scenario whole = ScenarioFile.load(name);
        long all = (long) whole.dataset().samples() * whole.epochs();
        return all <= reads ? whole : whole.shrunk((int) Math.ceilDiv(all, reads));
    }

    public static PolicyResult run(Scenario scenario, String policy) throws IOException {
        try {
            return Simulation.run(scenario, new Workload(scenario), policy, _ -> {})
                    .result();
        } catch (InvalidSpecException e) {
            throw new IOException(e);
        }
    }

    public static SimulationReport runAll(Scenario scenario) throws IOException {
        return Simulator.run(scenario, Policies.names(), SILENT);
    }

    /** S + (E - 1) max(0, S - C), in bytes. */
    public static double trafficBound(Scenario scenario) throws IOException {
        double bytes = new Workload(scenario).bytes();
        double capacity = scenario.nodes()
                * scenario.classes().stream()
                        .mapToDouble(Scenario.Device::capacity)
                        .sum()
                * 1e6;
        return bytes + (scenario.epochs() - 1) * Math.max(0, bytes - capacity);
    }

    public static PolicyResult of(SimulationReport report, String name) {
        return report.policies().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    public static List<PolicyResult> comparable(SimulationReport report) {
        return report.policies().stream().filter(PolicyResult::isComparable).toList();
    }
}
