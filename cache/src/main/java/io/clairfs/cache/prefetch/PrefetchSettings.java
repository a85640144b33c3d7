package io.clairfs.cache.prefetch;

import java.util.List;

/**
 * The amount of prefetching.
 *
 * @param stagingBytes bytes that may be in the staging area at once
 * @param stagingSamples how many samples may be there at once
 * @param loaders threads that stage, p_0 of the performance model (NoPFS section 4)
 * @param fillers threads that fill each tier, fastest first, its p_j
 * @param sharing how loaders are shared out to the ranks
 */
public record PrefetchSettings(
        long stagingBytes, int stagingSamples, int loaders, List<Integer> fillers, Sharing sharing) {
    public PrefetchSettings {
        fillers = List.copyOf(fillers);
        if (loaders < 1 || fillers.stream().anyMatch(threads -> threads < 1)) {
            throw new IllegalArgumentException("every prefetcher has at least one thread");
        }
    }

    /** How loaders are shared out to the ranks of this node. */
    public enum Sharing {
        /** The same number for every rank; for comparison. */
        FIXED,
        /** More for a rank that is predicted to be late. */
        BALANCED
    }
}
