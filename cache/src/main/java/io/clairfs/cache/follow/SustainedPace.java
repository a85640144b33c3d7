package io.clairfs.cache.follow;

/**
 * The most that a sample can take the trainers of a job together, by how fast they have read on for a while.
 *
 * <p>Loaders may be ahead by what they hold, so trainers have computed on {@code n - window} samples at least while {@code n} were read. The
 * fastest stretch of many windows, or the fastest epoch, is nearest to the truth. Not thread-safe.
 */
final class SustainedPace {
    private static final int WINDOWS = 32;
    private static final int FEWEST_WINDOWS = 4;

    private final int window;
    private long begunNs;
    private long lastNs;
    private int reads = -1;
    private double nsPerSample = Double.POSITIVE_INFINITY;

    /** {@code window} is the number of samples that the loaders of all ranks here hold; 0 if that is not known. */
    SustainedPace(int window) {
        this.window = window;
    }

    /** One sample was read. */
    void read(long nowNs) {
        lastNs = nowNs;
        if (reads++ < 0) {
            begunNs = nowNs;
        } else if (reads >= (long) WINDOWS * window) {
            interrupted();
        }
    }

    /** The reads that follow are not the next ones. */
    void interrupted() {
        nsPerSample = nsPerSample();
        reads = -1;
    }

    /** The most that a sample takes, nanoseconds; infinite while that is not known. */
    double nsPerSample() {
        return window > 0 && reads >= (long) FEWEST_WINDOWS * window
                ? Math.min(nsPerSample, (double) (lastNs - begunNs) / (reads - window))
                : nsPerSample;
    }
}
