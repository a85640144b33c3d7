package io.clairfs.cache.order;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The inputs of a sampler beside the user's keys.
 *
 * @param samples in the dataset
 * @param resumedEpoch the epoch that {@code skip_batches} and {@code skip_samples} apply to: the first that is read
 * @param paths makes the look-up of samples by path, null without a dataset; only {@code order-file} calls it, once for each file that
 *     names paths, and drops the result
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
