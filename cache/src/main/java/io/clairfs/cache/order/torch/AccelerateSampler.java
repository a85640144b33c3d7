package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.BatchLimits;
import io.clairfs.cache.order.BatchShards;
import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.SequentialSampler;
import io.clairfs.cache.order.torch.TorchLoaderRun.Holder;
import java.math.BigInteger;

/**
 * accelerate's prepared loader: the {@code SeedableRandomSampler} that HF's Trainer uses, seeded with seed + epoch, or the
 * sampler that the processes synchronise, and its batches dealt to the processes. Source: accelerate/data_loader.py (1.15).
 */
public final class AccelerateSampler implements Sampler {
    private final int samples;
    private final BigInteger seed;
    private final boolean shuffle;
    private final TorchVersion torch;
    private final BatchShards shards;
    private final Sampler synchronised;
    private final boolean seedable;

    public AccelerateSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        if (samples == 0) {
            throw new InvalidSpecException("samples=0: RandomSampler refuses an empty dataset");
        }
        seed = keys.torchSeed("seed", 0);
        shuffle = keys.flag("shuffle", true);
        torch = TorchVersion.read(keys);
        int world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        boolean dropLast = keys.flag("drop_last", false);
        int batch = TorchLoader.batch(keys);
        shards = new BatchShards(
                samples, batch, world, keys.flag("split_batches", false), keys.flag("even_batches", true), dropLast);
        seedable = keys.flag("use_seedable_sampler", true);
        long drawsBefore = TorchLoader.draws("draws_before", keys);
        if (seedable && drawsBefore > 0) {
            throw new InvalidSpecException("the seedable sampler has no history: draws_before changes nothing");
        } else if (!seedable && world == 1) {
            throw new InvalidSpecException(
                    "one process without the seedable sampler has torch's own order; use sampler=torch-default");
        }
        synchronised = synchronised(batch, dropLast, drawsBefore);
    }

    /** The processes share a generator, seeded by one draw from the first process's default generator. */
    private Sampler synchronised(int batch, boolean dropLast, long drawsBefore) {
        TorchGenerator origin = TorchGenerator.seeded(seed);
        origin.skip(drawsBefore);
        TorchGenerator shared = TorchGenerator.seeded(origin.int63());
        TorchLoader loader = new TorchLoader(
                samples, samples, false, batch, dropLast, 0, 2, false, false, BatchLimits.NONE, 0, 0, torch);
        return ConsecutiveEpochs.of(loader.work(), new TorchLoaderRun(loader, Holder.SAMPLER, shared, null));
    }

    private BigInteger seedOf(int epoch) throws InvalidSpecException {
        return Keys.requireTorchSeed("seed + epoch", seed.add(BigInteger.valueOf(epoch)));
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        if (shuffle && seedable) {
            seedOf(epoch);
        }
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        EpochOrder order = order(epoch);
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return shards.length(rank);
            }

            @Override
            public int sample(int rank, int step) {
                return order.sample(0, shards.place(rank, step));
            }
        };
    }

    private EpochOrder order(int epoch) throws InvalidSpecException {
        if (!shuffle) {
            return new SequentialSampler(samples).epoch(epoch);
        } else if (!seedable) {
            return synchronised.epoch(epoch);
        }
        return EpochOrder.of(TorchRandperm.permutation(samples, TorchGenerator.seeded(seedOf(epoch)), torch));
    }
}
