package io.clairfs.cache.order.spec;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.torch.TorchLoader;
import java.util.Set;

/**
 * Leaves out of a sampler's order what the loader skips: the beginning of the epoch in which a run is resumed and, with
 * {@code drop_last_batch}, the incomplete batch at the end of every epoch. Where the sampler has no {@code drop_last} of its own, that key
 * is the loader's and means the same.
 *
 * <p>accelerate's {@code skip_first_batches} skips a rank's batches, torchdata's StatefulDistributedSampler a rank's samples.
 */
final class LoaderCut implements Sampler {
    /** Samplers to which {@code drop_last} means something else, or which obey it themselves. */
    private static final Set<String> OWN_DROP_LAST = Set.of(
            Samplers.DEFAULT,
            "torch-generator",
            "torch-default",
            "torch-state",
            "torchdata-stateful",
            "accelerate",
            Samplers.DLIO);

    private final Sampler sampler;
    private final int resumedEpoch;
    private final long skipped;
    private final int batch;
    private final boolean dropLastBatch;

    private LoaderCut(Sampler sampler, int resumedEpoch, long skipped, int batch, boolean dropLastBatch) {
        this.sampler = sampler;
        this.resumedEpoch = resumedEpoch;
        this.skipped = skipped;
        this.batch = batch;
        this.dropLastBatch = dropLastBatch;
    }

    /** Samples that a rank of the sampler {@code name} reads in a step. */
    static int batchOfRank(Keys keys, String name) throws InvalidSpecException {
        int batch = TorchLoader.batch(keys);
        return name.equals("accelerate") && keys.flag("split_batches", false)
                ? batch / keys.integer("world", 1, 1, Integer.MAX_VALUE)
                : batch;
    }

    /** Cuts {@code sampler}, whose name is {@code name}, as the keys say; returns it unchanged when they cut nothing. */
    static Sampler read(SamplerSetting setting, Keys keys, String name, Sampler sampler) throws InvalidSpecException {
        int batch = batchOfRank(keys, name);
        long batches = keys.integer("skip_batches", 0, 0, Integer.MAX_VALUE);
        long samples = keys.integer("skip_samples", 0, 0, Integer.MAX_VALUE);
        boolean ofLoader = !OWN_DROP_LAST.contains(name);
        boolean dropLastBatch = keys.flag("drop_last_batch", false) || (ofLoader && keys.flag("drop_last", false));
        if ((batches > 0 || dropLastBatch) && !keys.has("batch")) {
            throw new InvalidSpecException(
                    "skip_batches and dropping the last batch need batch, the samples of one batch");
        }
        long skipped = batches * batch + samples;
        return skipped == 0 && !dropLastBatch
                ? sampler
                : new LoaderCut(sampler, setting.resumedEpoch(), skipped, batch, dropLastBatch);
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        sampler.requirePossible(epoch);
    }

    @Override
    public boolean isReady(int epoch) {
        return sampler.isReady(epoch);
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        EpochOrder whole = sampler.epoch(epoch);
        long skip = epoch == resumedEpoch ? skipped : 0;
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                int length = whole.length(rank);
                int read = dropLastBatch ? length - length % batch : length;
                return (int) Math.max(0, read - skip);
            }

            @Override
            public int sample(int rank, int step) {
                return whole.sample(rank, (int) skip + step);
            }

            @Override
            public long size() {
                return whole.size();
            }
        };
    }
}
