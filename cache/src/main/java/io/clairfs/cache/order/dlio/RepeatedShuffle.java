package io.clairfs.cache.order.dlio;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.python.NumpyShuffle;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Mt19937;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One list that is shuffled in place before every epoch, by a generator that is seeded with the same number each time.
 *
 * <p>Every shuffle moves what is at a place to the same other place, so epoch e is the permutation of the first shuffle to the power of e + 1:
 * no epoch needs those before it.
 */
final class RepeatedShuffle implements Sampler {
    private final int samples;
    private final int seed;
    private int @Nullable [] once;

    /** The list of the numbers from 0 to {@code samples - 1}, shuffled by {@code np.random.seed(seed)}. */
    RepeatedShuffle(int samples, int seed) {
        this.samples = samples;
        this.seed = seed;
    }

    @Override
    public EpochOrder epoch(int epoch) {
        if (once == null) {
            once = PermutationSampler.identity(samples);
            new NumpyShuffle(new Mt19937(seed)).shuffle(once);
        }
        int[] list = once;
        int[] power = once;
        for (int left = epoch; left > 0; left >>= 1) {
            if ((left & 1) == 1) {
                list = moved(list, power);
            }
            if (left > 1) {
                power = moved(power, power);
            }
        }
        return EpochOrder.of(list);
    }

    private static int[] moved(int[] list, int[] from) {
        int[] moved = new int[list.length];
        Arrays.setAll(moved, i -> list[from[i]]);
        return moved;
    }
}
