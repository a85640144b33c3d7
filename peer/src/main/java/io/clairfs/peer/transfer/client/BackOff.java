package io.clairfs.peer.transfer.client;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long a peer, by one rail, that failed is left alone: twice as long after every failure in a row, within bounds. Then one request tries it, and the others
 * go elsewhere until the peer has shown that it lives. So a peer that is still silent makes one request wait, not all.
 */
final class BackOff {
    private final long leastNs;
    private final long mostNs;
    private final long patienceNs;
    private long nextNs;
    private volatile long untilNs;
    private volatile boolean failed;

    /** Until when the request that tries the peer may show whether it lives; then another one tries. */
    private final AtomicLong triedUntilNs = new AtomicLong();

    BackOff(int leastMs, int mostMs, int patienceMs) {
        leastNs = TimeUnit.MILLISECONDS.toNanos(leastMs);
        mostNs = TimeUnit.MILLISECONDS.toNanos(mostMs);
        patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs);
        nextNs = leastNs;
    }

    /** Whether it has not failed since it last showed that it lives. */
    boolean isTrusted() {
        return !failed;
    }

    /** Whether no request may go to the peer. */
    boolean isResting(long nowNs) {
        return failed && nowNs - untilNs < 0;
    }

    /** Whether it is no use to ask the peer now: it rests, or a request is trying it. */
    boolean isLeftAlone(long nowNs) {
        return isResting(nowNs) || (failed && nowNs - triedUntilNs.get() < 0);
    }

    /** Whether the caller may ask the peer. After a failure and its rest, one caller may. */
    boolean mayAsk(long nowNs) {
        if (!failed) {
            return true;
        }
        long tried = triedUntilNs.get();
        return !isResting(nowNs) && nowNs - tried >= 0 && triedUntilNs.compareAndSet(tried, nowNs + patienceNs);
    }

    long remainingMs(long nowNs) {
        return TimeUnit.NANOSECONDS.toMillis(Math.max(0, untilNs - nowNs));
    }

    /** Leaves the peer alone, for three to five quarters of the period, so that a group does not come back in step. */
    void failed(long nowNs) {
        untilNs = nowNs + nextNs / 4 * 3 + ThreadLocalRandom.current().nextLong(nextNs / 2 + 1);
        triedUntilNs.set(untilNs);
        failed = true;
        nextNs = Math.min(mostNs, nextNs * 2);
    }

    /** The peer lives: all may ask it. If it fails all the same, it is left alone for longer than before. */
    void lives() {
        failed = false;
    }

    /** The peer answered: earlier failures are forgotten. */
    void succeeded() {
        if (failed || nextNs != leastNs) {
            failed = false;
            nextNs = leastNs;
        }
    }
}
