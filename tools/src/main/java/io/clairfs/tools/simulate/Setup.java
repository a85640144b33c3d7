package io.clairfs.tools.simulate;

/**
 * What a policy works with in one run.
 *
 * @param costs at the moment
 * @param traffic to which a policy adds what it fetches outside of staging
 */
record Setup(Scenario scenario, Workload load, Costs costs, Traffic traffic) {
    int nodes() {
        return scenario.nodes();
    }

    int samples() {
        return load.sizes().length;
    }

    int classes() {
        return scenario.classes().size();
    }

    long capacity(int storageClass) {
        return scenario.classes().get(storageClass).storageClass().capacityBytes();
    }

    long capacityOfNode() {
        long sum = 0;
        for (int j = 0; j < classes(); j++) {
            sum += capacity(j);
        }
        return sum;
    }
}
