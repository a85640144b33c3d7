package io.clairfs.gpufeeder.feed;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** How long failures are put up with: counted from the first one that no success has followed. Thread-safe. */
final class Patience {
    private final long longestNs;
    private final LongSupplier clockNs;
    private boolean failing;
    private long sinceNs;

    Patience(long longestS, LongSupplier clockNs) {
        longestNs = TimeUnit.SECONDS.toNanos(longestS);
        this.clockNs = clockNs;
    }

    /** There is one more failure. Returns whether it is put up with. */
    synchronized boolean lasts() {
        long now = clockNs.getAsLong();
        if (!failing) {
            failing = true;
            sinceNs = now;
        }
        return now - sinceNs <= longestNs;
    }

    /** There is a success, or nobody waits for one any more: the next failure is a first one. */
    synchronized void renew() {
        failing = false;
    }
}
