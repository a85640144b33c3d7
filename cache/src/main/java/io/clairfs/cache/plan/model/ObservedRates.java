package io.clairfs.cache.plan.model;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The performance model, corrected by the times of fetches.
 *
 * <p>Per place, a line seconds = latency + bytes / rate is fitted by least squares to the fetches seen. Each fetch weighs less with every
 * later one and with time: an exponential moving average of both figures. The model takes part as two observations, whose
 * weight shrinks as that of the fetches grows. It is the answer until there is something better; it separates latency from rate where all
 * samples are of one size; and it slowly becomes the answer again for a place that is not used, so that a place that was slow once is
 * tried again.
 */
public final class ObservedRates implements FetchCosts {
    /** The factor on the weight of older fetches for each newer one. */
    private static final double KEPT_PER_FETCH = 1 - 1.0 / 32;

    private static final double MODEL_WEIGHT = 0.25;
    private static final long LARGE_BYTES = 1 << 20;

    private final FetchCosts model;
    private final double memoryNanos;
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<Place, Line> lines = new ConcurrentHashMap<>();

    /**
     * @param model the expected cost of places without fetches so far
     * @param memorySeconds the time in which an observation's weight falls to 1/e, seconds
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

    /** Records that one thread fetched a sample of so many bytes from there in so many nanoseconds. */
    public void record(Place place, long bytes, long nanos) {
        if (bytes < 0 || nanos < 0) {
            throw new IllegalArgumentException("negative: " + bytes + " bytes in " + nanos + " ns");
        }
        lines.computeIfAbsent(place, Line::new).add(bytes, nanos * 1e-9);
    }

    /** Drops what was observed there, for it no longer holds. */
    public void forget(Place place) {
        lines.remove(place);
    }

    /** How many fetches from there were recorded. */
    public long fetches(Place place) {
        Line line = lines.get(place);
        return line == null ? 0 : line.fetches();
    }

    /** What the model alone says, whatever was seen. */
    public double modelSeconds(Place place, long bytes) {
        return model.fetchSeconds(place, bytes);
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
        private long fetches;
        private double weight;
        private double x;
        private double y;
        private double xx;
        private double xy;

        Line(Place place) {
            this.place = place;
        }

        synchronized void add(long bytes, double seconds) {
            long now = nanoTime.getAsLong();
            double kept = KEPT_PER_FETCH * fading(now);
            lastNanos = now;
            fetches++;
            weight = weight * kept + 1;
            x = x * kept + bytes;
            y = y * kept + seconds;
            xx = xx * kept + (double) bytes * bytes;
            xy = xy * kept + bytes * seconds;
        }

        synchronized long fetches() {
            return fetches;
        }

        private double fading(long now) {
            return Math.exp(-Math.max(0, now - lastNanos) / memoryNanos);
        }

        synchronized double at(long bytes) {
            double kept = fading(nanoTime.getAsLong());
            double ofNothing = model.fetchSeconds(place, 0);
            double ofLarge = model.fetchSeconds(place, LARGE_BYTES);
            double modelWeight = MODEL_WEIGHT / (1 + weight * kept);
            double sw = weight * kept + 2 * modelWeight;
            double sx = x * kept + modelWeight * LARGE_BYTES;
            double sy = y * kept + modelWeight * (ofNothing + ofLarge);
            double sxx = xx * kept + modelWeight * LARGE_BYTES * LARGE_BYTES;
            double sxy = xy * kept + modelWeight * LARGE_BYTES * ofLarge;
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
