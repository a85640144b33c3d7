package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import java.util.Random;

/** An epoch in which each node reads only its own samples, shuffled. If they are fewer than it reads, it starts again with the first. */
public final class OwnSamples implements EpochOrder {
    private final int[][] own;
    private final int reads;

    private OwnSamples(int[][] own, int reads) {
        this.own = own;
        this.reads = reads;
    }

    /** Shuffles in place. */
    static OwnSamples shuffled(int[][] own, int reads, long seed, int epoch) {
        for (int node = 0; node < own.length; node++) {
            Random random = new Random(31 * (31 * seed + epoch) + node);
            shuffle(own[node], random);
        }
        return new OwnSamples(own, reads);
    }

    public static void shuffle(int[] samples, Random random) {
        for (int i = samples.length - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swap = samples[i];
            samples[i] = samples[other];
            samples[other] = swap;
        }
    }

    @Override
    public int length(int rank) {
        return reads;
    }

    @Override
    public int sample(int rank, int step) {
        int[] mine = own[rank];
        return mine[step < mine.length ? step : step % mine.length];
    }
}
