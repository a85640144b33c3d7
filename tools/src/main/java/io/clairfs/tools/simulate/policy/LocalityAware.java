package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;

/**
 * Locality-aware loading (Yang and Cong, HiPC 2019): the memory of each node is filled with a share of the dataset. Of every global batch each
 * node trains on the samples that it keeps; surplus samples go to other nodes until all have the same number.
 *
 * <p>Samples that no node keeps go to the first node with a deficit. Which node gives to which does not matter here, because the cost is the
 * same. The paper's heaps, which save messages, are left out.
 */
public final class LocalityAware extends SamplerOrder {
    private final Shards shards;

    private LocalityAware(Setup setup, Shards shards) {
        super(setup);
        this.shards = shards;
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
        int reads = setup.load().reads();
        int[][] samples = balanced(
                super.order(epoch), shards, setup.nodes(), setup.scenario().batch(), reads);
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return reads;
            }

            @Override
            public int sample(int rank, int step) {
                return samples[rank][step];
            }
        };
    }

    /** An epoch's samples by node; each global batch is dealt by the nodes that keep its samples. */
    public static int[][] balanced(EpochOrder order, Shards shards, int nodes, int batch, int reads) {
        int[][] dealt = new int[nodes][reads];
        int[] length = new int[nodes];
        int[] left = new int[nodes * batch];
        for (int first = 0; first < reads; first += batch) {
            int end = Math.min(first + batch, reads);
            java.util.Arrays.fill(length, first);
            int lefts = 0;
            for (int step = first; step < end; step++) {
                for (int node = 0; node < nodes; node++) {
                    int sample = order.sample(node, step);
                    int keeper = shards.node(sample);
                    if (shards.storageClass(sample) != Shards.ABSENT && length[keeper] < end) {
                        dealt[keeper][length[keeper]++] = sample;
                    } else {
                        left[lefts++] = sample;
                    }
                }
            }
            for (int node = 0; node < nodes; node++) {
                while (length[node] < end) {
                    dealt[node][length[node]++] = left[--lefts];
                }
            }
        }
        return dealt;
    }
}
