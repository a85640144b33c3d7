package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.simulate.scenario.OrdersAhead;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Workload;

/**
 * The inputs of a policy in one run.
 *
 * @param orders the orders of the epochs, for the run itself; look-ahead uses those of {@code load}
 * @param costs the current costs
 * @param traffic receives the fetches of a policy outside of staging
 */
public record Setup(Scenario scenario, Workload load, OrdersAhead orders, Costs costs, SimulatedTraffic traffic) {
    public static Setup of(Scenario scenario, Workload load) throws InvalidSpecException {
        return new Setup(
                scenario, load, load.ordersAhead(), new Costs(scenario), new SimulatedTraffic(scenario.classes()));
    }

    int nodes() {
        return scenario.nodes();
    }

    int samples() {
        return load.sizes().length;
    }

    int classes() {
        return scenario.classes().size();
    }

    /** The number of threads of a class, p_j. */
    int threads(int storageClass) {
        return scenario.classes().get(storageClass).threads();
    }

    long capacity(int storageClass) {
        return scenario.classes().get(storageClass).storageClass().capacityBytes();
    }

    /** The bytes of a class's capacity that a sample of this size takes. */
    long bytesOf(int storageClass, long sampleBytes) {
        return scenario.classes().get(storageClass).storageClass().bytesOf(sampleBytes);
    }

    long capacityOfNode() {
        long sum = 0;
        for (int j = 0; j < classes(); j++) {
            sum += capacity(j);
        }
        return sum;
    }
}
