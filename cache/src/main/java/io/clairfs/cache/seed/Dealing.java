package io.clairfs.cache.seed;

/** Ways in which the samplers of a family deal one order to ranks. */
enum Dealing {
    /** One rank reads all. */
    TO_ONE,
    /** One sample to each rank in turn. */
    BY_SAMPLE,
    /** One sample or one batch to each rank in turn: torch's DistributedSampler, or accelerate. */
    BY_SAMPLE_OR_BATCH
}
