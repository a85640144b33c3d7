package io.clairfs.tools.simulate.scenario;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;

/** The number of times that one node reads the same sample in a run (NoPFS section 3.1, figure 3). */
public final class AccessFrequency {
    private AccessFrequency() {}

    /** The numbers of samples that node 0 reads 0, 1, 2, ... times. */
    public static long[] counted(Workload load, int epochs) throws InvalidSpecException {
        short[] reads = new short[load.sizes().length];
        for (int epoch = 0; epoch < epochs; epoch++) {
            EpochOrder order = load.order(epoch);
            for (int step = 0; step < load.reads(); step++) {
                reads[order.sample(0, step)]++;
            }
        }
        long[] histogram = new long[epochs + 1];
        for (short each : reads) {
            histogram[Math.min(each, epochs)]++;
        }
        return histogram;
    }

    /** The expected number of samples that are read {@code times} times: F P(X = times), X ~ Binomial(E, 1 / N). */
    public static double expected(int samples, int epochs, int nodes, int times) {
        double p = 1.0 / nodes;
        double logarithm = times * Math.log(p) + (nodes == 1 ? 0 : (epochs - times) * Math.log1p(-p));
        if (nodes == 1) {
            return times == epochs ? samples : 0;
        }
        for (int i = 0; i < times; i++) {
            logarithm += Math.log(epochs - i) - Math.log(i + 1);
        }
        return samples * Math.exp(logarithm);
    }
}
