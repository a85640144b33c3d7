package io.clairfs.tools.warm;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How fast samples and pieces of them came in the last half minute, and how long the rest takes at that pace. The time to go is the longer of
 * two: by bytes, and by samples, because a store answers small files at a number per second and large ones at a number of bytes.
 */
public final class WarmPace {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double WINDOW_S = 30;

    /** Without a new byte or sample, and without another place that gives one. */
    private static final double PATIENCE_S = 60;

    /** Without a new byte or sample while a peer or a disk gives one: how many of its bytes it has given is not known. */
    private static final double PATIENCE_FOR_WHOLE_S = 600;

    private final Deque<Look> looks = new ArrayDeque<>();
    private long newsNs;

    /** When another place than the source was last seen to give a sample, or the first look. */
    private long wholeNs;

    private record Look(long ns, Amounts amounts) {}

    /** What was there at {@code ns}, on the clock of {@link System#nanoTime}. */
    public void saw(long ns, Amounts now) {
        Look last = looks.peekLast();
        if (last == null || hasNews(last.amounts, now)) {
            newsNs = ns;
        }
        if (last == null || now.arrivingWhole() > 0) {
            wholeNs = ns;
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
                || now.arriving() != before.arriving()
                || now.wantedSamples() != before.wantedSamples()
                || now.isPlanned() != before.isPlanned();
    }

    private double seconds(Look since) {
        return (looks.getLast().ns - since.ns) / NANOS_PER_SECOND;
    }

    /** Seconds since the last sample came, or a piece of one. */
    public double secondsWithoutNews() {
        return secondsSince(newsNs);
    }

    /** Whether nothing has come for so long that nothing more is waited for. */
    public boolean isStuck() {
        double silent = secondsWithoutNews();
        return silent > PATIENCE_FOR_WHOLE_S || (silent > PATIENCE_S && secondsSince(wholeNs) > PATIENCE_S);
    }

    private double secondsSince(long ns) {
        return looks.isEmpty() ? 0 : (looks.getLast().ns - ns) / NANOS_PER_SECOND;
    }

    /** Bytes per second in the last half minute. */
    public double bytesPerSecond() {
        if (looks.size() < 2) {
            return 0;
        }
        Look first = looks.getFirst();
        long came = looks.getLast().amounts.cameBytes() - first.amounts.cameBytes();
        return Math.max(0, came) / seconds(first); // fewer have come where a fetch was given up
    }

    /** Seconds until all is there at this pace; infinite while nothing comes. */
    public double secondsToGo() {
        if (looks.size() < 2) {
            return Double.POSITIVE_INFINITY;
        }
        Amounts from = looks.getFirst().amounts;
        Amounts now = looks.getLast().amounts;
        double took = seconds(looks.getFirst());
        long cameBytes = now.cameBytes() - from.cameBytes();
        double byBytes = rest(now.wantedBytes() - now.cameBytes(), cameBytes, took);
        long came = now.thereSamples() - from.thereSamples();
        if (came == 0 && cameBytes > 0) { // a sample takes longer than the half minute
            return byBytes;
        }
        return Math.max(byBytes, rest(now.wantedSamples() - now.thereSamples(), came, took));
    }

    private static double rest(long missing, long came, double took) {
        if (missing <= 0) {
            return 0;
        }
        return came <= 0 ? Double.POSITIVE_INFINITY : missing * took / came;
    }
}
