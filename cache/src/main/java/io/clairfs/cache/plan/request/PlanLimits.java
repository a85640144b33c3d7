package io.clairfs.cache.plan.request;

/**
 * How far a plan looks ahead and what it may cost. All nodes need the same limits, but for the threads, to get the same plan.
 *
 * @param tableBytesPerSample of the table of uses; beside it, planning takes about 20 bytes per sample
 * @param mostEpochs of each job that are looked at
 * @param epochsWhenEndless are looked at of a job without a known end
 * @param mostUses that are looked at in all; bounds the time
 * @param threads 1 or 2; the second computes an order while the first looks through the one before
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

    public int epochs(Need need) {
        return Math.min(mostEpochs, need.epochs(epochsWhenEndless));
    }
}
