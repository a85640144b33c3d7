package io.clairfs.cache.follow;

/**
 * How fast a rank's trainer reads while nothing holds it up: the time that a sample's training takes (Lobster's T_train, per
 * sample, ICPP 2022, section 4.3), as seen from outside.
 *
 * <p>Reads are reported in lumps, so they are counted over a stretch of time. A stretch in which the trainer had to wait for
 * samples tells how fast they came, not how fast it is, and does not count. Not thread-safe.
 */
final class Pace {
    private static final long STRETCH_NS = 50_000_000;
    private static final int STRETCH_READS = 8;
    private static final double WEIGHT = 0.25;

    private long stretchStartNs;
    private int stretchReads;
    private boolean heldUp = true;
    private double nsPerSample;

    /** One sample was read; {@code starved} says that the next one is not there yet. */
    void read(long nowNs, boolean starved) {
        stretchReads++;
        heldUp |= starved;
        long elapsed = nowNs - stretchStartNs;
        if (elapsed < STRETCH_NS || stretchReads < STRETCH_READS) {
            return;
        }
        double seen = (double) elapsed / stretchReads;
        if (!heldUp) {
            nsPerSample = nsPerSample == 0 ? seen : nsPerSample + WEIGHT * (seen - nsPerSample);
        }
        stretchStartNs = nowNs;
        stretchReads = 0;
        heldUp = starved;
    }

    /** Time between two reads, nanoseconds; 0 while it is not known. */
    double nsPerSample() {
        return nsPerSample;
    }
}
