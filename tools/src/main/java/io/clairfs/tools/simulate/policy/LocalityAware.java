package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.locality.LocalityAwareSampler;
import io.clairfs.cache.order.locality.Owners;

/**
 * Locality-aware loading (Yang and Cong, HiPC 2019): the memory of each node is filled with a share of the dataset before the start. Of every
 * global batch each node trains on the samples that it keeps; surplus samples go to other nodes until all have the same number.
 *
 * <p>Global batches are dealt as by {@code sampler=locality-aware}. The owners are the nodes that keep the samples here, because samples of
 * different sizes may not fit where arithmetic would have them.
 */
final class LocalityAware extends SamplerOrder {
    private final Shards shards;
    private final Sampler dealt;

    private LocalityAware(Setup setup, Shards shards) {
        super(setup);
        this.shards = shards;
        dealt = new LocalityAwareSampler(
                setup.orders()::epoch,
                sample -> shards.storageClass(sample) == Shards.ABSENT ? Owners.NONE : shards.node(sample),
                setup.nodes(),
                1,
                setup.scenario().batch());
    }

    static LocalityAware create(Setup setup) throws UnsupportedScenarioException {
        return new LocalityAware(setup, Shards.inMemory(setup));
    }

    @Override
    public double prepare() {
        return shards.load();
    }

    @Override
    public boolean changesOrder() {
        return true;
    }

    @Override
    public int place(int node, int sample) {
        return shards.place(node, sample);
    }

    @Override
    public EpochOrder order(int epoch) throws InvalidSpecException {
        return dealt.epoch(epoch);
    }
}
