package io.clairfs.cache.follow;

import java.util.Arrays;

/**
 * How long a sample takes the trainers of a job together while no reader waits: their computation, or whatever else limits them beside data.
 *
 * <p>The median of the last stretches of reads. A stretch lasts until two steps and some time are over, for loaders read in lumps. One in which a
 * reader waited does not count; a wait is known when it ends, so it also takes back stretches that are over. A median, for the first reads of
 * an epoch fill the loaders' buffers at once, and a trainer may pause. {@link Pace} is the quick guess for one rank. Not thread-safe.
 */
final class CalmPace {
    static final int KEPT = 63;
    static final int LEAST = 3;
    private static final long STRETCH_NS = 50_000_000;
    private static final int STRETCH_READS = 8;

    private final int leastReads;
    private final long[] startNs = new long[KEPT];
    private final long[] endNs = new long[KEPT];

    /** Nanoseconds of a sample; 0 for a stretch that does not count. */
    private final double[] nsPerSample = new double[KEPT];

    private long stretches;
    private boolean isBegun;
    private boolean isDisturbed;
    private long begunNs;
    private int reads;

    /** {@code step} is the number of samples that all ranks here read in one step; 0 if that is not known. */
    CalmPace(int step) {
        leastReads = Math.max(STRETCH_READS, 2 * step);
    }

    /** One sample was read. */
    void read(long nowNs) {
        if (!isBegun) {
            begin(nowNs);
            return;
        }
        reads++;
        if (reads < leastReads || nowNs - begunNs < STRETCH_NS) {
            return;
        }
        if (!isDisturbed) {
            int at = (int) (stretches++ % KEPT);
            startNs[at] = begunNs;
            endNs[at] = nowNs;
            nsPerSample[at] = (double) (nowNs - begunNs) / reads;
        }
        begin(nowNs);
    }

    private void begin(long nowNs) {
        isBegun = true;
        isDisturbed = false;
        begunNs = nowNs;
        reads = 0;
    }

    /** A reader has waited. */
    void waited(long fromNs, long toNs) {
        isDisturbed |= isBegun && toNs > begunNs;
        for (long i = stretches - 1; i >= Math.max(0, stretches - KEPT) && endNs[(int) (i % KEPT)] > fromNs; i--) {
            int at = (int) (i % KEPT);
            if (startNs[at] < toNs) {
                nsPerSample[at] = 0;
            }
        }
    }

    /** The reads that follow are not the next ones: another epoch. */
    void interrupted() {
        isBegun = false;
    }

    /** Time for a sample, nanoseconds; 0 while it is not known. */
    double nsPerSample() {
        double[] calm = Arrays.stream(nsPerSample).filter(ns -> ns > 0).sorted().toArray();
        return calm.length < LEAST ? 0 : calm[calm.length / 2];
    }
}
