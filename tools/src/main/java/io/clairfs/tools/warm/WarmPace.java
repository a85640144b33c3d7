package io.clairfs.tools.warm;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How fast samples came in the last half minute, and how long the rest takes at that pace. The time to go is the longer of two: by bytes, and by
 * samples, because a store answers small files at a number per second and large ones at a number of bytes.
 */
public final class WarmPace {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double WINDOW_S = 30;

    private final Deque<Look> looks = new ArrayDeque<>();
    private long newsNs;

    private record Look(long ns, Amounts amounts) {}

    /** What was there at {@code ns}, on the clock of {@link System#nanoTime}. */
    public void saw(long ns, Amounts now) {
        Look last = looks.peekLast();
        if (last == null || hasNews(last.amounts, now)) {
            newsNs = ns;
        }
        if (last != null && last.amounts.isPlanned() != now.isPlanned()) {
            looks.clear(); // what is wanted was another thing before
        }
        looks.addLast(new Look(ns, now));
        while (looks.size() > 2 && seconds(looks.getFirst()) > WINDOW_S) {
            looks.removeFirst();
        }
    }

    private static boolean hasNews(Amounts before, Amounts now) {
        return now.thereSamples() != before.thereSamples()
                || now.residentSamples() != before.residentSamples()
                || now.wantedSamples() != before.wantedSamples()
                || now.isPlanned() != before.isPlanned();
    }

    private double seconds(Look since) {
        return (looks.getLast().ns - since.ns) / NANOS_PER_SECOND;
    }

    /** Seconds since the last sample came. */
    public double secondsWithoutNews() {
        return looks.isEmpty() ? 0 : (looks.getLast().ns - newsNs) / NANOS_PER_SECOND;
    }

    /** Bytes per second in the last half minute. */
    public double bytesPerSecond() {
        return looks.size() < 2
                ? 0
                : (looks.getLast().amounts.thereBytes()
                                - looks.getFirst().amounts.thereBytes())
                        / seconds(looks.getFirst());
    }

    /** Seconds until all is there at this pace; infinite while nothing comes. */
    public double secondsToGo() {
        if (looks.size() < 2) {
            return Double.POSITIVE_INFINITY;
        }
        Amounts from = looks.getFirst().amounts;
        Amounts now = looks.getLast().amounts;
        double took = seconds(looks.getFirst());
        return Math.max(
                rest(now.wantedBytes() - now.thereBytes(), now.thereBytes() - from.thereBytes(), took),
                rest(now.wantedSamples() - now.thereSamples(), now.thereSamples() - from.thereSamples(), took));
    }

    private static double rest(long missing, long came, double took) {
        if (missing <= 0) {
            return 0;
        }
        return came <= 0 ? Double.POSITIVE_INFINITY : missing * took / came;
    }
}
