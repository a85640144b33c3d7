package io.clairfs.fs.slow;

import java.time.Duration;

/**
 * How slow a slow source is.
 *
 * @param bytesPerSecond of all readers together
 * @param openLatency of every open, however many are under way
 */
public record SlowSourceSpec(long bytesPerSecond, Duration openLatency) {
    private static final long MOST_BYTES_PER_SECOND = 1L << 40;
    private static final Duration LONGEST_LATENCY = Duration.ofSeconds(30);

    public SlowSourceSpec {
        if (bytesPerSecond < 1 || bytesPerSecond > MOST_BYTES_PER_SECOND) {
            throw new IllegalArgumentException("a bandwidth of " + bytesPerSecond
                    + " bytes per second is not between 1 and " + MOST_BYTES_PER_SECOND);
        }
        if (openLatency.isNegative() || openLatency.compareTo(LONGEST_LATENCY) > 0) {
            throw new IllegalArgumentException("an open latency of " + openLatency.toMillis()
                    + " ms is not between 0 and " + LONGEST_LATENCY.toMillis());
        }
    }
}
