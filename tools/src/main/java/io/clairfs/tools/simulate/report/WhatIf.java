package io.clairfs.tools.simulate.report;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.simulate.Simulation;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.InvalidScenarioException;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Workload;
import java.util.Arrays;

/**
 * The time with other amounts of memory and SSD (NoPFS section 6.2, figure 9), under our policy. It is simulated on a part of the dataset
 * with a part of the room, which leaves the shares unchanged and the time nearly so.
 *
 * @param policy the policy of the runs
 * @param divisor the number by which the samples were divided and the time was multiplied
 * @param memory MB on each node, by column
 * @param ssd MB on each node, by row; one row of 0 if there is no second class
 * @param seconds by row and column
 * @param lowerBoundSeconds the time of a run in which data is always ready
 */
public record WhatIf(
        String policy, int divisor, double[] memory, double[] ssd, double[][] seconds, double lowerBoundSeconds) {
    private static final double[] MEMORY_STEPS = {0, 0.25, 0.5, 1, 2, 4};
    private static final double[] SSD_STEPS = {0, 0.25, 0.5, 1, 2};
    /** The approximate number of reads of one cell. */
    private static final double READS = 400_000;

    public static WhatIf of(Scenario scenario, Simulator.Listener listener)
            throws InvalidScenarioException, InvalidSpecException {
        double reads = (double) scenario.dataset().samples() * scenario.epochs();
        int most = (int) Math.max(1, scenario.dataset().samples() / (20L * scenario.batch() * scenario.nodes()));
        int divisor = Math.clamp(Math.round(reads / READS), 1, most);
        Scenario small = scenario.shrunk(divisor);
        Workload load = new Workload(small);
        double[] memory = steps(scenario, 0, MEMORY_STEPS);
        double[] ssd = scenario.classes().size() < 2 ? new double[1] : steps(scenario, 1, SSD_STEPS);
        double[][] seconds = new double[ssd.length][memory.length];
        listener.begin("what if", (long) ssd.length * memory.length);
        double bound = Simulation.lowerBound(small, load, _ -> {});
        double scale = (double) scenario.dataset().samples() / small.dataset().samples();
        int done = 0;
        for (int row = 0; row < ssd.length; row++) {
            for (int column = 0; column < memory.length; column++) {
                double[] capacities = small.classes().stream()
                        .mapToDouble(Scenario.Device::capacity)
                        .toArray();
                capacities[0] = memory[column] / divisor;
                if (capacities.length > 1) {
                    capacities[1] = ssd[row] / divisor;
                }
                seconds[row][column] = scale
                        * Simulation.run(small.withCapacities(capacities), load, Policies.CLAIRFS, _ -> {})
                                .result()
                                .seconds();
                listener.at(++done);
            }
        }
        listener.end();
        return new WhatIf(Policies.CLAIRFS, divisor, memory, ssd, seconds, bound * scale);
    }

    private static double[] steps(Scenario scenario, int storageClass, double[] steps) {
        double now = scenario.classes().get(storageClass).capacity();
        return Arrays.stream(steps)
                .map(step -> Math.min(step * now, Scenario.MOST_CAPACITY))
                .toArray();
    }
}
