package io.clairfs.cache.plan;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The performance model, refined by what fetches really take.
 *
 * <p>Per place, a line seconds = latency + bytes / rate is fitted by least squares over the fetches seen, where each fetch
 * weighs less with every later one and with time (an exponential moving average of both figures), and errors count relative to
 * what the model expects. The model itself takes part as two observations of constant weight: it is the answer until there is
 * something better, it separates latency from rate where all samples are of one size, and it slowly becomes the answer again
 * for a place that is not used, so that a place which was slow once is tried again.
 */
public final class ObservedRates implements FetchCosts {
    /** What an older fetch weighs for each newer one. */
    private static final double KEPT_PER_FETCH = 1 - 1.0 / 32;

    private static final double MODEL_WEIGHT = 0.5;
    private static final long LARGE_BYTES = 1 << 20;

    private final FetchCosts model;
    private final double memoryNanos;
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<Place, Line> lines = new ConcurrentHashMap<>();

    /**
     * @param model what is expected of places nobody fetched from
     * @param memorySeconds the time in which what was observed loses all but 1/e of its weight
     * @param nanoTime the clock, as {@link System#nanoTime}
     */
    public ObservedRates(FetchCosts model, double memorySeconds, LongSupplier nanoTime) {
        if (!(memorySeconds > 0)) {
            throw new IllegalArgumentException("not positive: " + memorySeconds + " s");
        }
        this.model = model;
        this.memoryNanos = memorySeconds * 1e9;
        this.nanoTime = nanoTime;
    }

    /** One thread fetched a sample of so many bytes from there in so many nanoseconds. */
    public void record(Place place, long bytes, long nanos) {
        if (bytes < 0 || nanos < 0) {
            throw new IllegalArgumentException("negative: " + bytes + " bytes in " + nanos + " ns");
        }
        lines.computeIfAbsent(place, Line::new).add(bytes, nanos * 1e-9);
    }

    @Override
    public double fetchSeconds(Place place, long bytes) {
        Line line = lines.get(place);
        return line == null ? model.fetchSeconds(place, bytes) : line.at(bytes);
    }

    /** The weighted sums of one place's least squares; x is bytes, y is seconds. */
    private final class Line {
        private final Place place;
        private long lastNanos = nanoTime.getAsLong();
        private double weight;
        private double x;
        private double y;
        private double xx;
        private double xy;

        Line(Place place) {
            this.place = place;
        }

        private double expected(long bytes) {
            return Math.max(1e-9, model.fetchSeconds(place, bytes));
        }

        synchronized void add(long bytes, double seconds) {
            long now = nanoTime.getAsLong();
            double kept = KEPT_PER_FETCH * fading(now);
            double w = 1 / (expected(bytes) * expected(bytes));
            lastNanos = now;
            weight = weight * kept + w;
            x = x * kept + w * bytes;
            y = y * kept + w * seconds;
            xx = xx * kept + w * bytes * bytes;
            xy = xy * kept + w * bytes * seconds;
        }

        private double fading(long now) {
            return Math.exp(-Math.max(0, now - lastNanos) / memoryNanos);
        }

        synchronized double at(long bytes) {
            double kept = fading(nanoTime.getAsLong());
            double ofNothing = expected(0);
            double ofLarge = expected(LARGE_BYTES);
            double w0 = MODEL_WEIGHT / (ofNothing * ofNothing);
            double w1 = MODEL_WEIGHT / (ofLarge * ofLarge);
            if (model.fetchSeconds(place, 0) <= 0) {
                w0 = w1; // a model without latency says nothing certain about it
            }
            double sw = weight * kept + w0 + w1;
            double sx = x * kept + w1 * LARGE_BYTES;
            double sy = y * kept + w0 * model.fetchSeconds(place, 0) + w1 * ofLarge;
            double sxx = xx * kept + w1 * LARGE_BYTES * LARGE_BYTES;
            double sxy = xy * kept + w1 * LARGE_BYTES * ofLarge;
            double spread = sw * sxx - sx * sx;
            double slope = Math.max(0, (sw * sxy - sx * sy) / spread);
            double latency = (sy - slope * sx) / sw;
            if (latency < 0) { // then the best line through the origin
                return bytes * sxy / sxx;
            }
            return latency + slope * bytes;
        }
    }
}
