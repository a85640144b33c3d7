package io.clairfs.cache.follow;

/**
 * How often the ranks that read here were ready together.
 *
 * @param steps that count: all ranks were seen to read their batches of the step. 0 with fewer than two ranks, or a batch that is not known
 * @param imbalanced those in which one rank was later than another by more than a tenth of the step: Lobster, section 5.3
 */
public record RankBalance(long steps, long imbalanced) {}
