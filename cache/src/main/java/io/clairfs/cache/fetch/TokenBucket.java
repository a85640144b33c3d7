package io.clairfs.cache.fetch;

import java.util.function.LongSupplier;

/**
 * Allows something so many times in a row at most, and once more after each pause: a token bucket, full at first.
 *
 * <p>Thread-safe. Its lock is the innermost.
 */
final class TokenBucket {
    private final int size;
    private final long pauseNs;
    private final LongSupplier clockNs;

    /** The time at which the bucket was, or would have been, empty. */
    private long emptyNs;

    /** {@code clockNs} is as {@link System#nanoTime}. */
    TokenBucket(int size, long pauseNs, LongSupplier clockNs) {
        this.size = size;
        this.pauseNs = pauseNs;
        this.clockNs = clockNs;
        emptyNs = clockNs.getAsLong() - size * pauseNs;
    }

    /** Takes a token. Returns false if there is none. */
    synchronized boolean take() {
        long now = clockNs.getAsLong();
        if (now - emptyNs > size * pauseNs) {
            emptyNs = now - size * pauseNs;
        }
        if (now - emptyNs < pauseNs) {
            return false;
        }
        emptyNs += pauseNs;
        return true;
    }
}
