package io.clairfs.cache.plan.model;

import java.util.List;

/**
 * Bytes per second of a device or a service as a function of how many threads (or clients) use it at once: t(gamma), r_j(p)
 * and w_j(p) of NoPFS section 4.
 *
 * <p>Piecewise linear between measured points. Below the first point it shrinks in proportion to the threads, so that the rate
 * of each thread is that of the first point; beyond the last point the device is saturated and it stays as it is.
 *
 * @param points measured, threads ascending
 */
public record Throughput(List<Point> points) {

    public Throughput {
        points = List.copyOf(points);
        if (points.isEmpty()) {
            throw new IllegalArgumentException("no measured point");
        }
        for (int i = 1; i < points.size(); i++) {
            if (points.get(i).threads <= points.get(i - 1).threads) {
                throw new IllegalArgumentException("threads do not ascend: " + points);
            }
        }
    }

    /**
     * One measurement.
     *
     * @param threads that used the device at once
     * @param bytesPerSecond of all of them together
     */
    public record Point(int threads, double bytesPerSecond) {
        public Point {
            if (threads < 1 || !(bytesPerSecond > 0) || Double.isInfinite(bytesPerSecond)) {
                throw new IllegalArgumentException(
                        "not positive or not finite: " + threads + " threads, " + bytesPerSecond + " bytes/s");
            }
        }
    }

    /** This rate for any number of threads together. */
    public static Throughput constant(double bytesPerSecond) {
        return new Throughput(List.of(new Point(1, bytesPerSecond)));
    }

    /** {@code bytesPerSecond} for each thread, up to {@code threads} of them. */
    public static Throughput perThread(double bytesPerSecond, int threads) {
        return new Throughput(List.of(new Point(threads, bytesPerSecond * threads)));
    }

    /** Bytes per second of {@code threads} threads together; {@code threads} is positive and may be a mean. */
    public double at(double threads) {
        if (!(threads > 0)) {
            throw new IllegalArgumentException("not positive: " + threads + " threads");
        }
        Point below = points.getFirst();
        if (threads <= below.threads) {
            return below.bytesPerSecond * threads / below.threads;
        }
        for (Point above : points) {
            if (threads <= above.threads) {
                double share = (threads - below.threads) / (above.threads - below.threads);
                return below.bytesPerSecond + share * (above.bytesPerSecond - below.bytesPerSecond);
            }
            below = above;
        }
        return below.bytesPerSecond;
    }

    /** Bytes per second of each of {@code threads} threads. */
    public double each(double threads) {
        return at(threads) / threads;
    }
}
