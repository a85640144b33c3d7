package io.clairfs.tools.simulate.policy;

import static java.util.Locale.ROOT;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.spec.Samplers;
import java.math.BigDecimal;

/**
 * Partial local shuffling (Nguyen et al., IPDPS 2022), in the order of the sampler {@code partial-local}: each node keeps a share of the
 * dataset, and exchanges a fraction Q of it between epochs. The exchange is overlapped: a received sample is fetched from its former node when
 * first read.
 */
public final class PartialLocal implements Policy {
    private final Setup setup;
    private final Shards shards;
    private final Sampler sampler;
    /** By sample: the node that read it in the epoch before and sends it; in epoch 0 the node that reads it. */
    private final short[] from;
    /** By sample: the node that reads it in this epoch. */
    private final short[] readers;

    private PartialLocal(Setup setup, Shards shards, Sampler sampler) {
        this.setup = setup;
        this.shards = shards;
        this.sampler = sampler;
        from = new short[setup.samples()];
        readers = new short[setup.samples()];
    }

    static PartialLocal create(Setup setup, double exchanged) throws UnsupportedScenarioException {
        double needed = (1 + exchanged) * setup.load().bytes() / setup.nodes();
        Shards shards = new Shards(setup, 0, setup.classes());
        if (needed > setup.capacityOfNode() || !shards.areComplete()) {
            throw new UnsupportedScenarioException(String.format(
                    ROOT,
                    "each node keeps (1 + Q) of its share, %.0f MB, and has room for %.0f MB",
                    needed / 1e6,
                    setup.capacityOfNode() / 1e6));
        }
        try {
            String line = "sampler=partial-local world=" + setup.nodes() + " exchange="
                    + BigDecimal.valueOf(exchanged).toPlainString() + " seed="
                    + Math.abs(setup.scenario().seed());
            return new PartialLocal(setup, shards, Samplers.create(setup.samples(), Keys.parse(line)));
        } catch (InvalidSpecException e) {
            throw new UnsupportedScenarioException(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public double prepare() {
        return shards.load();
    }

    @Override
    public EpochOrder order(int epoch) throws InvalidSpecException {
        EpochOrder order = sampler.epoch(epoch);
        System.arraycopy(readers, 0, from, 0, from.length);
        for (int node = 0; node < setup.nodes(); node++) {
            for (int step = 0; step < order.length(node); step++) {
                readers[order.sample(node, step)] = (short) node;
            }
        }
        if (epoch == 0) {
            System.arraycopy(readers, 0, from, 0, from.length);
        }
        return new Repeated(order, setup.load().reads());
    }

    /** An order whose ranks start again with their first samples when they read more. */
    private record Repeated(EpochOrder order, int reads) implements EpochOrder {
        @Override
        public int length(int rank) {
            return reads;
        }

        @Override
        public int sample(int rank, int step) {
            return order.sample(rank, step % order.length(rank));
        }
    }

    @Override
    public int place(int node, int sample) {
        int each = shards.storageClass(sample);
        return from[sample] == node ? setup.costs().local(each) : setup.costs().peer(each);
    }

    @Override
    public boolean changesOrder() {
        return true;
    }
}
