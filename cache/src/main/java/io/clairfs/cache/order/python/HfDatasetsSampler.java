package io.clairfs.cache.order.python;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.random.Pcg64;
import java.math.BigInteger;
import java.util.List;

/**
 * HuggingFace datasets: {@code Dataset.shuffle(seed)}, one permutation for all epochs, or with {@code reseed_each_epoch} one for seed +
 * epoch. With {@code buffer_size} the order in which {@code IterableDataset.shuffle} yields examples. Source: datasets/arrow_dataset.py,
 * iterable_dataset.py (5.0).
 */
public final class HfDatasetsSampler implements Sampler {
    /** How many places the buffer draws at once. */
    private static final int CHUNK = 1000;

    private final int samples;
    private final BigInteger seed;
    private final boolean reseed;
    private final int buffer;

    public HfDatasetsSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        seed = keys.integer("seed", BigInteger.ZERO);
        reseed = keys.flag("reseed_each_epoch", false);
        buffer = keys.integer("buffer_size", 0, 0, Integer.MAX_VALUE - 8);
        generator(0);
    }

    private Pcg64 generator(int epoch) throws InvalidSpecException {
        return new NumpySeed(List.of(seed.add(BigInteger.valueOf(reseed ? epoch : 0))), false).generator();
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        if (buffer > 0 && epoch > 0 && !reseed) {
            throw new InvalidSpecException("buffer_size: how datasets seeds epochs after the first is not known here;"
                    + " use epochs=1, or sampler=order-file");
        }
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        requirePossible(epoch);
        if (buffer == 0) {
            int[] order = PermutationSampler.identity(samples);
            new NumpyShuffle(generator(epoch)).shuffle(order);
            return EpochOrder.of(order);
        }
        return EpochOrder.of(buffered(generator(epoch)));
    }

    private int[] buffered(Pcg64 g) {
        int held = Math.min(buffer, samples);
        int[] waiting = PermutationSampler.identity(held);
        int[] order = new int[samples];
        int[] places = new int[CHUNK];
        for (int i = 0; i < samples - held; i++) {
            if (i % CHUNK == 0) {
                for (int k = 0; k < CHUNK; k++) {
                    places[k] = (int) NumpyShuffle.integer(g, 0, buffer);
                }
            }
            int place = places[i % CHUNK];
            order[i] = waiting[place];
            waiting[place] = held + i;
        }
        new NumpyShuffle(g).shuffle(waiting);
        System.arraycopy(waiting, 0, order, samples - held, held);
        return order;
    }
}
