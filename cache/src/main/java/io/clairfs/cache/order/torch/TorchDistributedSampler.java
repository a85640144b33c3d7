package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * torch's {@code DistributedSampler}: one permutation per epoch from seed + epoch, dealt round-robin to the ranks and padded
 * from its start (or cut, with {@code drop_last}) to equal lengths. Source: torch/utils/data/distributed.py.
 *
 * <p>Under an endless loader (timm's MultiEpochsDataLoader, ultralytics' InfiniteDataLoader) with workers, the pass for an epoch begins
 * while an earlier epoch is consumed, before {@code set_epoch} sets its number: it repeats the order of an earlier epoch. The first passes begin before any call
 * of it, with the order of epoch 0, also in a run that is resumed at {@code start_epoch}. With
 * {@code even_divisible=false} it is MONAI's, which pads nothing.
 */
public final class TorchDistributedSampler implements Sampler {
    private final int samples;
    private final BigInteger seed;
    private final int world;
    private final boolean shuffle;
    private final boolean dropLast;
    private final boolean evenDivisible;
    private final boolean setEpoch;
    private final int lag;

    /** The epoch of the first pass of an endless loader. */
    private final int startEpoch;

    private final TorchVersion torch;

    public TorchDistributedSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        seed = keys.torchSeed("seed", 0);
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        shuffle = keys.flag("shuffle", true);
        dropLast = keys.flag("drop_last", false);
        evenDivisible = keys.flag("even_divisible", true);
        setEpoch = keys.flag("set_epoch", true);
        torch = TorchVersion.read(keys);
        lag = readLag(keys);
        startEpoch = lag == 0 ? 0 : keys.integer("start_epoch", 0, 0, Integer.MAX_VALUE);
        requirePadding();
    }

    private void requirePadding() throws InvalidSpecException {
        if (dropLast && !evenDivisible) {
            throw new InvalidSpecException("drop_last makes the ranks even; it does not go with even_divisible=false");
        }
        long padding = (long) Math.ceilDiv(samples, world) * world - samples;
        if (!dropLast && padding > samples && !torch.atLeast(1, 8)) {
            throw new InvalidSpecException(
                    "torch " + torch + " cannot pad " + samples + " samples to " + world + " ranks; it came with 1.8");
        }
    }

    /** How many epochs an endless loader runs ahead. */
    private int readLag(Keys keys) throws InvalidSpecException {
        int workers = TorchLoader.workers(keys);
        int prefetchFactor = TorchLoader.prefetchFactor(keys, workers);
        int batch = TorchLoader.batch(keys);
        boolean cut = keys.flag("drop_last_batch", false);
        if (!keys.flag("endless", false) || workers == 0) {
            return 0;
        }
        int length = length(0);
        int batches = cut ? length / batch : Math.ceilDiv(length, batch);
        return (int) Math.ceilDiv((long) prefetchFactor * workers, Math.max(1, batches));
    }

    private int length(int rank) {
        if (!evenDivisible) {
            return Math.max(0, Math.ceilDiv(samples - rank, world));
        }
        return dropLast && samples % world != 0 ? samples / world : Math.ceilDiv(samples, world);
    }

    private BigInteger seedOf(int epoch) throws InvalidSpecException {
        int seen = setEpoch && epoch - lag >= startEpoch ? epoch - lag : 0;
        return Keys.requireTorchSeed("seed + epoch", seed.add(BigInteger.valueOf(seen)));
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        seedOf(epoch);
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        BigInteger sum = seedOf(epoch);
        int[] permutation = shuffle ? TorchRandperm.permutation(samples, TorchGenerator.seeded(sum), torch) : null;
        return new Dealt(permutation);
    }

    private final class Dealt implements EpochOrder {
        private final int @Nullable [] permutation;

        Dealt(int @Nullable [] permutation) {
            this.permutation = permutation;
        }

        @Override
        public int length(int rank) {
            return TorchDistributedSampler.this.length(rank);
        }

        @Override
        public int sample(int rank, int step) {
            int place = (int) (((long) step * world + rank) % samples);
            return permutation == null ? place : permutation[place];
        }
    }
}
