package io.clairfs.cache.follow;

/**
 * How fast a rank's trainer reads while nothing holds it up: the time that a sample's training takes (Lobster's T_train, per
 * sample, ICPP 2022, section 4.3), as seen from outside.
 *
 * <p>Reads are reported in lumps, so they are counted over a stretch of time. A stretch in which the trainer had to wait for
 * samples tells how fast they came, not how fast it is, and does not count. Nor does one that is far longer than was expected, for the trainer
 * paused, as for an evaluation or a checkpoint; when the next one is as long, it has become slow. Not thread-safe.
 */
final class Pace {
    private static final long STRETCH_NS = 50_000_000;
    private static final int STRETCH_READS = 8;
    private static final double WEIGHT = 0.25;

    /** A longer stretch is a pause if it is also {@link #PAUSE_FACTOR} times as long as its reads should take. */
    private static final long PAUSE_NS = 1_000_000_000;

    private static final int PAUSE_FACTOR = 10;

    private long stretchStartNs;
    private int stretchReads;
    private boolean heldUp = true;

    /** Whether the last stretch that could count looked like a pause. */
    private boolean paused;

    private double nsPerSample;

    /** One sample was read; {@code starved} says that the next one is not there yet. */
    void read(long nowNs, boolean starved) {
        stretchReads++;
        heldUp |= starved;
        long elapsed = nowNs - stretchStartNs;
        if (elapsed < STRETCH_NS || stretchReads < STRETCH_READS) {
            return;
        }
        if (!heldUp) {
            count(elapsed);
        }
        stretchStartNs = nowNs;
        stretchReads = 0;
        heldUp = starved;
    }

    private void count(long elapsed) {
        boolean isLong = elapsed > Math.max(PAUSE_NS, PAUSE_FACTOR * nsPerSample * stretchReads);
        if (!isLong || paused) {
            double seen = (double) elapsed / stretchReads;
            nsPerSample = nsPerSample == 0 ? seen : nsPerSample + WEIGHT * (seen - nsPerSample);
        }
        paused = isLong;
    }

    /** Time between two reads, nanoseconds; 0 while it is not known. */
    double nsPerSample() {
        return nsPerSample;
    }
}
