package io.clairfs.cache.plan.request;

import java.util.function.IntUnaryOperator;

/**
 * The reads of one job: its orders, from one epoch to another, and the node on which each of its ranks reads.
 *
 * @param orders of the job's samplers
 * @param sampleOf the plan's number of a sample from its index in the job's order, or -1 for one that the plan leaves out
 * @param firstEpoch the first that is still to be read
 * @param endEpoch the end, exclusive; {@link #NO_KNOWN_END} when not known
 * @param nodeOfRank by rank, as long as the world size; -1 for a rank that reads elsewhere
 * @param sameInEveryEpoch whether each epoch reads the same samples on the same nodes, as where one node reads everything; then one epoch
 *     is walked for all
 */
public record Need(
        EpochSource orders,
        IntUnaryOperator sampleOf,
        int firstEpoch,
        int endEpoch,
        int[] nodeOfRank,
        boolean sameInEveryEpoch) {
    /** The end of a job without a known end. */
    public static final int NO_KNOWN_END = Integer.MAX_VALUE;

    public Need {
        nodeOfRank = nodeOfRank.clone();
        if (firstEpoch < 0 || endEpoch < firstEpoch) {
            throw new IllegalArgumentException("epochs " + firstEpoch + " to " + endEpoch);
        }
        if (nodeOfRank.length == 0) {
            throw new IllegalArgumentException("no ranks");
        }
    }

    /** A job whose epochs may differ in the samples read on each node. */
    public Need(EpochSource orders, IntUnaryOperator sampleOf, int firstEpoch, int endEpoch, int[] nodeOfRank) {
        this(orders, sampleOf, firstEpoch, endEpoch, nodeOfRank, false);
    }

    /** A job that numbers the samples as the plan does. */
    public Need(EpochSource orders, int firstEpoch, int endEpoch, int[] nodeOfRank) {
        this(orders, IntUnaryOperator.identity(), firstEpoch, endEpoch, nodeOfRank);
    }

    /** How many epochs it still reads, or {@code whenEndless}. */
    int epochs(int whenEndless) {
        return endEpoch == NO_KNOWN_END ? whenEndless : endEpoch - firstEpoch;
    }
}
