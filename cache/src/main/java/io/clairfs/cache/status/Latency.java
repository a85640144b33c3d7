package io.clairfs.cache.status;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * How long one kind of operation took, each time since the mount: a histogram with two digits, from a microsecond to an hour (HdrHistogram,
 * Tene). Thread-safe without a lock; about 30 KiB.
 */
public final class Latency {
    private static final long LONGEST_US = TimeUnit.HOURS.toMicros(1);
    private static final int DIGITS = 2;
    private static final double MICROS_PER_SECOND = 1e6;

    /** The upper ends of the classes in which a monitoring system wants the durations, seconds; one more is open. */
    private static final double[] ENDS = {
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60
    };

    private final ConcurrentHistogram histogram = new ConcurrentHistogram(1, LONGEST_US, DIGITS);
    private final LongAdder sumUs = new LongAdder();

    /** Records one duration, nanoseconds; less than a microsecond counts as one, more than an hour as an hour. */
    public void record(long ns) {
        long us = Math.clamp(TimeUnit.NANOSECONDS.toMicros(ns), 1, LONGEST_US);
        histogram.recordValue(us);
        sumUs.add(us);
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

    /**
     * The durations seen, counted in a few classes.
     *
     * @param upperSeconds the upper ends of the classes, ascending; the last is infinite
     * @param counts how many were in each class; at its ends exact to the histogram's two digits
     * @param sumSeconds all durations together
     */
    public record Buckets(double[] upperSeconds, long[] counts, double sumSeconds) {}

    /** The durations seen until now, in classes. */
    public Buckets buckets() {
        double[] ends = Arrays.copyOf(ENDS, ENDS.length + 1);
        ends[ENDS.length] = Double.POSITIVE_INFINITY;
        long[] counts = new long[ends.length];
        long from = 0;
        for (int i = 0; i < counts.length; i++) {
            long to = i == ENDS.length ? LONGEST_US : Math.round(ENDS[i] * MICROS_PER_SECOND);
            counts[i] = histogram.getCountBetweenValues(from, to);
            from = histogram.nextNonEquivalentValue(to);
        }
        return new Buckets(ends, counts, sumUs.sum() / MICROS_PER_SECOND);
    }

    private double atPercentile(long count, double percentile) {
        return count == 0 ? 0 : histogram.getValueAtPercentile(percentile) / MICROS_PER_SECOND;
    }
}
