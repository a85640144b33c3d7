package io.clairfs.peer.transfer;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** How long a peer that failed is left alone: twice as long after every failure in a row, within bounds. */
final class BackOff {
    private final long leastNs;
    private final long mostNs;
    private long nextNs;
    private volatile long untilNs;
    private volatile boolean failed;

    BackOff(int leastMs, int mostMs) {
        leastNs = TimeUnit.MILLISECONDS.toNanos(leastMs);
        mostNs = TimeUnit.MILLISECONDS.toNanos(mostMs);
        nextNs = leastNs;
    }

    boolean isLeftAlone(long nowNs) {
        return failed && nowNs - untilNs < 0;
    }

    long remainingMs(long nowNs) {
        return TimeUnit.NANOSECONDS.toMillis(Math.max(0, untilNs - nowNs));
    }

    /** Between three and five quarters of the period, so that a group does not come back in step. */
    void failed(long nowNs) {
        untilNs = nowNs + nextNs / 4 * 3 + ThreadLocalRandom.current().nextLong(nextNs / 2 + 1);
        failed = true;
        nextNs = Math.min(mostNs, nextNs * 2);
    }

    void succeeded() {
        if (failed) {
            failed = false;
            nextNs = leastNs;
        }
    }
}
