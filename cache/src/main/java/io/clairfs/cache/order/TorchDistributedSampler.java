package io.clairfs.cache.order;

import java.math.BigInteger;

/**
 * torch's {@code DistributedSampler}: one permutation per epoch from seed + epoch, dealt round-robin to the ranks and padded
 * from its start (or cut, with {@code drop_last}) to equal lengths. Source: torch/utils/data/distributed.py.
 */
final class TorchDistributedSampler implements Sampler {
    private final int samples;
    private final BigInteger seed;
    private final int world;
    private final boolean shuffle;
    private final boolean dropLast;

    TorchDistributedSampler(int samples, Keys keys) throws InvalidSpecException {
        this.samples = samples;
        seed = keys.torchSeed("seed", 0);
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        shuffle = keys.flag("shuffle", true);
        dropLast = keys.flag("drop_last", false);
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        BigInteger sum = Keys.requireTorchSeed("seed + epoch", seed.add(BigInteger.valueOf(epoch)));
        int perRank = dropLast && samples % world != 0 ? samples / world : Math.ceilDiv(samples, world);
        int[] permutation = shuffle ? TorchRandperm.permutation(samples, TorchRandperm.generator(sum)) : null;
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return perRank;
            }

            @Override
            public int sample(int rank, int step) {
                int place = (int) (((long) step * world + rank) % samples);
                return permutation == null ? place : permutation[place];
            }
        };
    }
}
