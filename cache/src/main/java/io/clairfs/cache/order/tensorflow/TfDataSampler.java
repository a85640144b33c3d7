package io.clairfs.cache.order.tensorflow;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.python.NumpySeed;
import io.clairfs.cache.order.python.NumpyShuffle;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Philox;
import io.clairfs.cache.order.torch.TorchLoader;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * tf.data's {@code Dataset.shuffle} over file names: a ring buffer that Philox draws from. Source:
 * tensorflow/core/kernels/data/shuffle_dataset_op.cc.
 *
 * <p>With {@code reshuffle_each_iteration} a second Philox seeds each epoch. With {@code count} other than 1 it is the fused
 * shuffle-and-repeat, whose generator continues from epoch to epoch. With {@code from_directory} it is Keras'
 * {@code image_dataset_from_directory}, which shuffles the paths once with numpy before; {@code shuffle_paths=false} is its form that
 * shuffles images after they are read (before keras issue 19502 was fixed), so that files are opened in numpy's order.
 */
public final class TfDataSampler implements Sampler {
    /** Keras' buffer holds this many batches. */
    private static final int KERAS_BATCHES = 8;

    private static final int KERAS_BATCH = 32;

    private final int samples;
    private final TfSeeds seeds;
    private final int buffer;
    private final boolean reshuffle;
    private final boolean fused;
    private final boolean shufflePaths;
    private final int @Nullable [] paths;

    public TfDataSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        seeds = TfSeeds.read(keys);
        boolean directory = keys.flag("from_directory", false);
        int batch = keys.has("batch") ? TorchLoader.batch(keys) : KERAS_BATCH;
        long usual = directory ? (long) batch * KERAS_BATCHES : samples;
        buffer = keys.integer("buffer_size", Math.clamp(usual, 1, Integer.MAX_VALUE), 1, Integer.MAX_VALUE);
        reshuffle = keys.flag("reshuffle_each_iteration", true);
        shufflePaths = keys.flag("shuffle_paths", true);
        if (!directory && !shufflePaths) {
            throw new InvalidSpecException("shuffle_paths=false belongs to from_directory=true");
        }
        int count = keys.integer("count", 1, -1, Integer.MAX_VALUE);
        if (count == 0) {
            throw new InvalidSpecException("count=0: shuffle_and_repeat refuses it; -1 repeats for ever");
        }
        fused = count != 1;
        paths = directory ? numpyOrder(keys.integer("seed", BigInteger.ZERO)) : null;
    }

    private int[] numpyOrder(BigInteger seed) throws InvalidSpecException {
        int[] order = PermutationSampler.identity(samples);
        new NumpyShuffle(new NumpySeed(List.of(seed), false).legacy()).shuffle(order);
        return order;
    }

    /** The generator at the beginning of {@code epoch}. */
    private Philox generator(int epoch) {
        Philox philox = new Philox(seeds.first(), seeds.second());
        if (reshuffle) {
            philox.skip(fused ? 0 : 2L * epoch);
            long first = philox.next32() & 0xffffffffL;
            philox = new Philox(first, philox.next32() & 0xffffffffL);
        }
        if (fused) {
            philox.skip((long) epoch * samples);
        }
        return philox;
    }

    @Override
    public EpochOrder epoch(int epoch) {
        if (!shufflePaths && paths != null) {
            return EpochOrder.of(paths);
        }
        int[] order = TfShuffleBuffer.order(samples, buffer, generator(epoch));
        if (paths != null) {
            for (int i = 0; i < order.length; i++) {
                order[i] = paths[order[i]];
            }
        }
        return EpochOrder.of(order);
    }
}
