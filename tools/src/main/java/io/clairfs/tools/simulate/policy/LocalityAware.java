package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;

/**
 * Locality-aware loading (Yang and Cong, HiPC 2019): memory of all nodes is filled with a share of the dataset each; of every
 * global batch each node trains on what it keeps, and the surplus of some goes to others until all have as many.
 *
 * <p>Samples that nobody keeps go where there is a deficit first. Which node gives to which does not matter here, as all pay
 * the same for it; the paper's heaps, which save messages, are left out.
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

    /** An epoch's samples, by node, each global batch dealt by who keeps what. */
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
