package io.clairfs.cache.order;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a sampler is made for, beside the keys that a user wrote.
 *
 * @param samples in the dataset
 * @param resumedEpoch the epoch that {@code skip_batches} and {@code skip_samples} are about: the first that is read
 * @param paths makes what numbers the samples by path, null where there is no dataset; only {@code order-file} asks, once for
 *     each file that names paths, and drops it
 */
public record SamplerSetting(
        int samples, int resumedEpoch, @Nullable Supplier<SamplePaths> paths) {

    public SamplerSetting {
        if (samples < 0 || resumedEpoch < 0) {
            throw new IllegalArgumentException("negative: " + samples + ", " + resumedEpoch);
        }
    }

    /** For a dataset of which only the size is known, read from epoch 0. */
    public SamplerSetting(int samples) {
        this(samples, 0, null);
    }

    /** Numbers samples by their path. */
    @FunctionalInterface
    public interface SamplePaths {
        /** The index of the sample with this path, relative to the dataset's root, or -1. */
        int sampleOf(byte[] path);
    }
}
