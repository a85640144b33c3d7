package io.clairfs.cache.plan.model;

import java.util.ArrayList;
import java.util.List;

/**
 * How fast a place is by how many threads read it at once, T(n) of Lobster's section 4: a concave curve, linear between its points and flat
 * beyond the last.
 *
 * @param rate of all readers together
 * @param others mean number of threads that read there beside those whose time is predicted, such as fillers
 */
public record Contention(Throughput rate, double others) {
    public Contention {
        rate = concave(rate);
        if (!(others >= 0) || Double.isInfinite(others)) {
            throw new IllegalArgumentException(others + " other readers");
        }
    }

    /** The least concave curve that is nowhere below the points: a rate that seems to fall with more readers, or to leap, was badly measured. */
    private static Throughput concave(Throughput measured) {
        List<Throughput.Point> hull = new ArrayList<>();
        for (Throughput.Point point : measured.points()) {
            if (!hull.isEmpty() && point.bytesPerSecond() <= hull.getLast().bytesPerSecond()) {
                continue;
            }
            while (!hull.isEmpty() && slopeTo(hull, hull.size() - 1) <= slope(hull.getLast(), point)) {
                hull.removeLast();
            }
            hull.add(point);
        }
        return new Throughput(hull);
    }

    private static double slopeTo(List<Throughput.Point> hull, int at) {
        Throughput.Point point = hull.get(at);
        return at == 0 ? point.bytesPerSecond() / point.threads() : slope(hull.get(at - 1), point);
    }

    private static double slope(Throughput.Point from, Throughput.Point to) {
        return (to.bytesPerSecond() - from.bytesPerSecond()) / (to.threads() - from.threads());
    }

    /** Seconds that a byte takes a thread that meets so many more there in the mean, beside the {@link #others}. */
    public double secondsPerByte(double met) {
        return 1 / rate.each(1 + others + met);
    }
}
