package io.clairfs.tools.simulate;

import io.clairfs.tools.simulate.policy.OwnSamples;
import java.util.Arrays;
import java.util.Random;

/**
 * The share of a global batch that must move when each node trains on its own samples (Yang and Cong, HiPC 2019, section V-C and figure 6):
 * the sum of all nodes' deficits divided by the size of the batch.
 */
final class BatchImbalance {
    private BatchImbalance() {}

    /**
     * The imbalance of each of many global batches.
     *
     * @param samples in the dataset, dealt evenly
     * @param batch of one node
     */
    static double[] simulated(int samples, int nodes, int batch, int batches, long seed) {
        int[] order = new int[samples];
        Arrays.setAll(order, sample -> sample);
        Random random = new Random(seed);
        double[] result = new double[batches];
        int global = nodes * batch;
        int at = samples;
        int[] kept = new int[nodes];
        for (int i = 0; i < batches; i++) {
            if (at + global > samples) {
                OwnSamples.shuffle(order, random);
                at = 0;
            }
            Arrays.fill(kept, 0);
            for (int end = at + global; at < end; at++) {
                kept[order[at] % nodes]++;
            }
            result[i] = (double) Arrays.stream(kept)
                            .map(each -> Math.max(0, batch - each))
                            .sum()
                    / global;
        }
        return result;
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** The mean for large batches: half the mean deviation of a binomial. */
    static double expected(int nodes, int batch) {
        return Math.sqrt((1 - 1.0 / nodes) / (2 * Math.PI * batch));
    }
}
