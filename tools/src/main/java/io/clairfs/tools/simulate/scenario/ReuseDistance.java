package io.clairfs.tools.simulate.scenario;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.Arrays;

/**
 * The number of iterations after which a node reads a sample again (Lobster section 3, figure 4).
 *
 * @param classWidth iterations in one class of the histogram
 * @param counts of reuses by distance, in classes
 */
public record ReuseDistance(int classWidth, long[] counts) {
    /** The reuses of node 0 in a run. */
    public static ReuseDistance counted(Workload load, int batch, int epochs, int classes) throws InvalidSpecException {
        int iterations = load.iterations();
        int width = Math.max(1, Math.ceilDiv(iterations * epochs, classes));
        long[] counts = new long[Math.ceilDiv(iterations * epochs, width)];
        int[] last = new int[load.sizes().length];
        Arrays.fill(last, -1);
        for (int epoch = 0; epoch < epochs; epoch++) {
            EpochOrder order = load.order(epoch);
            for (int step = 0; step < load.reads(); step++) {
                int sample = order.sample(0, step);
                int now = epoch * iterations + step / batch;
                if (last[sample] >= 0) {
                    counts[(now - last[sample]) / width]++;
                }
                last[sample] = now;
            }
        }
        return new ReuseDistance(width, counts);
    }

    /** The share of reuses whose distance is in a class that begins at {@code iterations} or later. */
    public double shareFrom(int iterations) {
        double all = 0;
        double from = 0;
        for (int i = 0; i < counts.length; i++) {
            all += counts[i];
            from += (long) i * classWidth >= iterations ? counts[i] : 0;
        }
        return all == 0 ? 0 : from / all;
    }
}
