package io.clairfs.cache.order.dali;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Mt19937;

/**
 * The order in which DALI's {@code readers.file} reads: a shuffle with a fixed seed, whatever seed the user gives, cut into shards. On the
 * way to the pipeline samples pass through one more buffer, which opens no files.
 *
 * <p>{@code random_shuffle} shuffles once. {@code shuffle_after_epoch} shuffles before every epoch: the list of the last one or, with
 * checkpointing, the sorted list. A reader that does not stick to its shard reads the next one in its next epoch. Source:
 * dali/operators/reader/loader/file_label_loader.h, loader.h (1.x); libstdc++ of GCC 11 and newer.
 */
public final class DaliSampler implements Sampler {
    private static final int SEED = 524287;

    private final int samples;
    private final int world;
    private final boolean stick;
    private final Sampler lists;

    public DaliSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        boolean each = keys.flag("shuffle_after_epoch", false);
        boolean once = keys.flag("random_shuffle", !each);
        boolean checkpointing = keys.flag("checkpointing", false);
        boolean stickToShard = keys.flag("stick_to_shard", false);
        if (samples == 0) {
            throw new InvalidSpecException("samples=0: the reader refuses an empty list");
        }
        if (each && once) {
            throw new InvalidSpecException("shuffle_after_epoch and random_shuffle: DALI refuses both together");
        }
        if (each && stickToShard) {
            throw new InvalidSpecException("shuffle_after_epoch and stick_to_shard: DALI refuses both together");
        }
        stick = stickToShard || each;
        lists = each && !checkpointing
                ? ConsecutiveEpochs.ofLarge(samples, () -> new Reshuffled(samples))
                : epoch -> EpochOrder.of(each ? shuffled(epoch + 1) : once ? shuffled(0) : identity());
    }

    private int[] identity() {
        return PermutationSampler.identity(samples);
    }

    private int[] shuffled(int daliEpoch) {
        int[] list = identity();
        StdShuffle.shuffle(list, new Mt19937(SEED + daliEpoch));
        return list;
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        EpochOrder list = lists.epoch(epoch);
        return new EpochOrder() {
            private int shard(int rank) {
                return stick ? rank : (int) (((long) rank + epoch) % world);
            }

            @Override
            public int length(int rank) {
                return start(shard(rank) + 1) - start(shard(rank));
            }

            @Override
            public int sample(int rank, int step) {
                return list.sample(0, start(shard(rank)) + step);
            }
        };
    }

    private int start(int shard) {
        return (int) ((long) samples * shard / world);
    }

    /** The list that every epoch shuffles again, seeded with DALI's epoch, which counts from 1. */
    private static final class Reshuffled implements ConsecutiveEpochs.Run {
        private final int[] list;
        private int daliEpoch = 1;

        Reshuffled(int samples) {
            list = PermutationSampler.identity(samples);
        }

        @Override
        public int[] next() {
            pass();
            return list.clone();
        }

        @Override
        public void pass() {
            StdShuffle.shuffle(list, new Mt19937(SEED + daliEpoch++));
        }
    }
}
