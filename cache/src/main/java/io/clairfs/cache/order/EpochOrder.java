package io.clairfs.cache.order;

/** The order of one epoch for every rank. Immutable; may be shared between threads. */
public interface EpochOrder {
    /** How many samples {@code rank} reads in this epoch. */
    int length(int rank);

    /** The sample index that {@code rank} reads at {@code step}, from 0 to {@code length(rank) - 1}. */
    int sample(int rank, int step);

    /** How many indices it keeps in memory where these may be more than the dataset has samples, 4 bytes each. */
    default long size() {
        return length(0);
    }

    /** An order that is the same list for every rank. */
    static EpochOrder of(int[] samples) {
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return samples.length;
            }

            @Override
            public int sample(int rank, int step) {
                return samples[step];
            }
        };
    }
}
