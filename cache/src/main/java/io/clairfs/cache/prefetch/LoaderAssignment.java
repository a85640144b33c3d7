package io.clairfs.cache.prefetch;

import java.util.List;

/** Shares a fixed number of loader threads out to the ranks of this node. */
interface LoaderAssignment {
    /**
     * The number of loaders for each queue; they add up to {@code loaders}, or a little more when there are more ranks than that. May take
     * milliseconds, so it is called without a lock, by one thread at a time.
     */
    int[] assign(List<RankQueue> queues, int loaders);

    /** Whether a rank without work for its loaders lends them to others. */
    boolean lendsIdleLoaders();

    /** The same number for every rank, always. */
    static LoaderAssignment fixed() {
        return new LoaderAssignment() {
            @Override
            public int[] assign(List<RankQueue> queues, int loaders) {
                int[] numbers = new int[queues.size()];
                int rest = loaders;
                for (int i = 0; i < queues.size(); i++) {
                    int share = Math.ceilDiv(rest, queues.size() - i);
                    numbers[i] = Math.max(1, share);
                    rest -= share;
                }
                return numbers;
            }

            @Override
            public boolean lendsIdleLoaders() {
                return false;
            }
        };
    }
}
