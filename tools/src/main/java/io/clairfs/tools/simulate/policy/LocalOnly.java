package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;

/** The base of policies whose nodes read only what they keep themselves, loaded before the first epoch. */
abstract class LocalOnly implements Policy {
    final Setup setup;
    final Shards shards;
    private final int[][] own;

    LocalOnly(Setup setup, Shards shards) throws UnsupportedScenarioException {
        this.setup = setup;
        this.shards = shards;
        own = new int[setup.nodes()][];
        for (int node = 0; node < own.length; node++) {
            own[node] = shards.of(node);
            if (own[node].length == 0) {
                throw new UnsupportedScenarioException("a node has no room for a single sample of its own");
            }
        }
    }

    @Override
    public double prepare() {
        return shards.load();
    }

    @Override
    public EpochOrder order(int epoch) {
        return OwnSamples.shuffled(own, setup.load().reads(), setup.scenario().seed(), epoch);
    }

    @Override
    public int place(int node, int sample) {
        return setup.costs().local(shards.storageClass(sample));
    }

    @Override
    public boolean changesOrder() {
        return true;
    }

    @Override
    public boolean readsFullDataset() {
        return shards.areComplete();
    }
}
