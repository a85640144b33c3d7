package io.clairfs.cache.seed;

/**
 * Bounds on the probability that an unpredictable order of reads fits any candidate at all.
 *
 * <p>In an unpredictable order each next sample is any of those that are left. So a read continues the one before it at a given place of a
 * candidate with a probability of at most 1 / (samples - reads), whatever was read before, and m of n reads do with at most
 * (n over m) / (samples - reads)^m. The bounds are multiplied by all that a search may try: the union bound.
 */
final class Chance {
    /** Candidates are believed below this. */
    static final double MOST = 1e-9;

    /** Orders that searches of one training may try: 2^24 seeds of at most 16 families, 64 times. */
    private static final double LOG_ORDERS = (24 + 4 + 6) * Math.log(2);

    /** Steps between the reads of a rank that are tried for each order. */
    private static final double LOG_STEPS = Math.log(ReadPlaces.MOST_STEP);

    private Chance() {}

    /**
     * At least {@code fits} of {@code reads} reads continue one of up to {@code window} reads before them with the same step.
     *
     * @param samples how many samples the dataset has
     */
    static double ofSteps(int samples, int reads, int fits, int window) {
        return fits == 0 || samples <= reads
                ? 1
                : capped(LOG_ORDERS
                        + LOG_STEPS
                        + logChoose(reads, fits)
                        + fits * Math.log((double) window / (samples - reads)));
    }

    /** At least {@code fits} of {@code reads} reads are among the first {@code first} samples of the order. */
    static double ofFirst(int samples, int reads, int fits, int first) {
        return capped(LOG_ORDERS + logChoose(reads, fits) + fits * Math.log(Math.min(1, (double) first / samples)));
    }

    private static double capped(double log) {
        return Math.min(1, Math.exp(log));
    }

    private static double logChoose(int n, int k) {
        double sum = 0;
        for (int i = 1; i <= k; i++) {
            sum += Math.log((double) (n - k + i) / i);
        }
        return sum;
    }
}
