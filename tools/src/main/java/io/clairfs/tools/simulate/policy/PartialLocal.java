package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import java.util.Arrays;
import java.util.Random;

/**
 * Partial local shuffling (Nguyen et al., IPDPS 2022): each node keeps a share of the dataset. Between epochs it sends a random fraction Q of it
 * to other nodes and receives as many samples (their Algorithm 1: by one random permutation of the nodes for each of these samples). The
 * exchange is overlapped: a received sample is fetched from its former node when first read.
 */
public final class PartialLocal implements Policy {
    private final Setup setup;
    private final Shards shards;
    private final double exchanged;
    private final int[][] own;
    /** By sample: the node that had it before this epoch and sends it. */
    private final short[] from;

    private PartialLocal(Setup setup, Shards shards, double exchanged) {
        this.setup = setup;
        this.shards = shards;
        this.exchanged = exchanged;
        own = new int[setup.nodes()][];
        Arrays.setAll(own, shards::of);
        from = new short[setup.samples()];
        Arrays.setAll(own, shards::of);
        for (int sample = 0; sample < from.length; sample++) {
            from[sample] = (short) shards.node(sample);
        }
    }

    static PartialLocal create(Setup setup, double exchanged) throws UnsupportedScenarioException {
        double needed = (1 + exchanged) * setup.load().bytes() / setup.nodes();
        Shards shards = new Shards(setup, 0, setup.classes());
        if (needed > setup.capacityOfNode() || !shards.areComplete()) {
            throw new UnsupportedScenarioException(String.format(
                    java.util.Locale.ROOT,
                    "each node keeps (1 + Q) of its share, %.0f MB, and has room for %.0f MB",
                    needed / 1e6,
                    setup.capacityOfNode() / 1e6));
        }
        return new PartialLocal(setup, shards, exchanged);
    }

    @Override
    public double prepare() {
        return shards.load();
    }

    @Override
    public EpochOrder order(int epoch) {
        long seed = setup.scenario().seed();
        if (epoch > 0) {
            for (int node = 0; node < own.length; node++) {
                for (int sample : own[node]) {
                    from[sample] = (short) node;
                }
            }
            exchange(own, exchanged, new Random(31 * seed + epoch));
        }
        return OwnSamples.shuffled(own, setup.load().reads(), seed, epoch);
    }

    /** Sends this fraction of each node's samples to other nodes; each node keeps the number that it had. */
    public static void exchange(int[][] own, double fraction, Random random) {
        int least = Arrays.stream(own).mapToInt(each -> each.length).min().orElse(0);
        int sent = (int) Math.round(fraction * least);
        for (int[] each : own) {
            OwnSamples.shuffle(each, random);
        }
        int[] to = new int[own.length];
        int[] received = new int[own.length];
        for (int i = 0; i < sent; i++) {
            Arrays.setAll(to, node -> node);
            OwnSamples.shuffle(to, random);
            for (int node = 0; node < own.length; node++) {
                received[to[node]] = own[node][i];
            }
            for (int node = 0; node < own.length; node++) {
                own[node][i] = received[node];
            }
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
