package io.clairfs.cache.status;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * How long one kind of operation took, each time since the mount: a histogram with two digits, from a microsecond to an hour (HdrHistogram,
 * Tene). Thread-safe without a lock; about 30 KiB.
 */
public final class Latency {
    private static final long LONGEST_US = TimeUnit.HOURS.toMicros(1);
    private static final int DIGITS = 2;
    private static final double MICROS_PER_SECOND = 1e6;

    private final ConcurrentHistogram histogram = new ConcurrentHistogram(1, LONGEST_US, DIGITS);

    /** Records one duration, nanoseconds; less than a microsecond counts as one, more than an hour as an hour. */
    public void record(long ns) {
        histogram.recordValue(Math.clamp(TimeUnit.NANOSECONDS.toMicros(ns), 1, LONGEST_US));
    }

    /**
     * The durations seen, seconds.
     *
     * @param count how often
     * @param p50 half took no longer
     * @param p99 99 of 100 took no longer
     * @param max the longest
     */
    public record Summary(long count, double p50, double p90, double p99, double p999, double max) {}

    /** The durations seen until now; zeros when there were none. */
    public Summary summary() {
        long count = histogram.getTotalCount();
        return new Summary(
                count,
                atPercentile(count, 50),
                atPercentile(count, 90),
                atPercentile(count, 99),
                atPercentile(count, 99.9),
                count == 0 ? 0 : histogram.getMaxValue() / MICROS_PER_SECOND);
    }

    private double atPercentile(long count, double percentile) {
        return count == 0 ? 0 : histogram.getValueAtPercentile(percentile) / MICROS_PER_SECOND;
    }
}
