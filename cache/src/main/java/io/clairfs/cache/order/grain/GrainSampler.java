package io.clairfs.cache.order.grain;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.random.SeedSequence;
import java.math.BigInteger;
import java.util.List;

/**
 * Grain's {@code MapDataset.shuffle(seed)}, with {@code world} above 1 sliced as {@code [rank::world]}; each epoch of {@code repeat()} has
 * seed + epoch. With {@code depth}, the seed is that of {@code ds.seed()}, and the shuffle that many steps after it derives its own.
 * Source: grain/_src/python/dataset (0.2).
 */
public final class GrainSampler implements Sampler {
    private static final long MOST_SEED = 0xffffffffL;

    private final int samples;
    private final long seed;
    private final int world;
    private final boolean reseed;

    public GrainSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        reseed = keys.flag("reseed_each_epoch", true);
        long given = keys.integer("seed", 0, 0, MOST_SEED);
        seed = keys.has("depth") ? derived(given, keys.integer("depth", 1, 1, Integer.MAX_VALUE)) : given;
    }

    private static long derived(long seed, int depth) {
        SeedSequence sequence = new SeedSequence(List.of(BigInteger.valueOf(seed), BigInteger.valueOf(depth)));
        return sequence.words(1)[0] & MOST_SEED;
    }

    @Override
    public EpochOrder epoch(int epoch) {
        GrainIndexShuffle shuffle =
                new GrainIndexShuffle(Math.max(0, samples - 1), (int) (seed + (reseed ? epoch : 0)));
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return Math.max(0, Math.ceilDiv(samples - rank, world));
            }

            @Override
            public int sample(int rank, int step) {
                return (int) shuffle.at((long) step * world + rank);
            }
        };
    }
}
