package io.clairfs.cache.seed;

/** Orders that differ by their seed alone: a sampler with the keys that a search does not look for. */
interface OrderFamily {
    /** Deals samples. */
    String TORCH_DISTRIBUTED = "sampler=torch-distributed";

    /** Deals batches of the same order. */
    String ACCELERATE = "sampler=accelerate";

    /** The line of the order of {@code seed}, read by one rank. */
    String whole(long seed);

    /** How the order is dealt to ranks. */
    Dealing dealing();

    /** The line of the order of {@code seed}, as {@code layout} deals it. */
    default String line(long seed, Layout layout) {
        return switch (dealing()) {
            case TO_ONE -> layout.ofOneRank().addTo(whole(seed));
            case BY_SAMPLE -> layout.addTo(whole(seed));
            case BY_SAMPLE_OR_BATCH ->
                layout.addTo(layout.byBatch() ? whole(seed).replace(TORCH_DISTRIBUTED, ACCELERATE) : whole(seed));
        };
    }
}
