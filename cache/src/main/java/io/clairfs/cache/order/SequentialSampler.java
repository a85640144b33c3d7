package io.clairfs.cache.order;

/** The samples in index order, in every epoch and for every rank. */
public final class SequentialSampler implements Sampler {
    private final int samples;

    public SequentialSampler(int samples) {
        this.samples = samples;
    }

    @Override
    public EpochOrder epoch(int epoch) {
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return samples;
            }

            @Override
            public int sample(int rank, int step) {
                return step;
            }
        };
    }
}
