package io.clairfs.cache.seed;

import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Looks for the sampler, seed, world and ranks that explain the first reads of a training. For one thread. */
public final class SeedSearch {
    private final int samples;
    private volatile long candidates;

    /** @param samples how many samples the dataset has */
    public SeedSearch(int samples) {
        this.samples = samples;
    }

    /** How many candidates the last search, or the one that runs, has tried; for any thread. */
    public long candidates() {
        return candidates;
    }

    /**
     * The order that explains {@code reads}, when there is one that chance would not give.
     *
     * @param goOn asked between slices of about a millisecond of work; false ends the search without a result
     */
    public Optional<FoundOrder> search(FirstReads.Snapshot reads, SearchExtent extent, BooleanSupplier goOn) {
        candidates = 0;
        return Optional.empty();
    }
}
