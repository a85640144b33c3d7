package io.clairfs.cache.plan.request;

/**
 * How far a plan looks ahead and what it may cost. All nodes need the same limits, except for the threads, to make the same plan.
 *
 * @param tableBytesPerSample of the table of uses; beside it, planning takes about 20 bytes per sample
 * @param mostEpochs of each job that are walked
 * @param epochsWhenEndless of a job without a known end that are walked
 * @param mostUses that are walked in all; bounds the time
 * @param threads 1 or 2; the second computes an order while the first walks the one before
 */
public record PlanLimits(int tableBytesPerSample, int mostEpochs, int epochsWhenEndless, long mostUses, int threads) {
    public static final PlanLimits DEFAULT = new PlanLimits(40, 128, 32, 500_000_000, 2);

    public PlanLimits {
        if (tableBytesPerSample < 2 || mostEpochs < 1 || epochsWhenEndless < 1 || mostUses < 1) {
            throw new IllegalArgumentException("a limit leaves no room for any plan");
        }
        if (threads < 1 || threads > 2) {
            throw new IllegalArgumentException(threads + " threads");
        }
    }

    public PlanLimits withThreads(int number) {
        return new PlanLimits(tableBytesPerSample, mostEpochs, epochsWhenEndless, mostUses, number);
    }

    /** How many epochs of this job are walked. */
    public int epochs(Need need) {
        return Math.min(mostEpochs, need.epochs(epochsWhenEndless));
    }
}
