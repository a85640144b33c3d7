package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Place;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * How long it takes until a sample is made, source's file included: here, and by each peer that makes samples for others.
 *
 * <p>A maker with n threads that has k samples under way for this node takes k / n times as long for each as for one alone, once k is more than n;
 * what it does for others is in what was measured. The times are those of one byte of the source's file, as moving averages.
 *
 * <p>Thread-safe. Its one lock, per maker, is the innermost.
 */
final class MakingTimes {
    /** The weight of the newest time; the first few count as much as each other. */
    private static final double NEWEST_WEIGHS = 1.0 / 8;

    private static final double NANOS_PER_SECOND = 1e9;

    private final LongSupplier clockNs;
    private final ConcurrentHashMap<Place, Known> makers = new ConcurrentHashMap<>();

    /** {@code clockNs} is as {@link System#nanoTime}. */
    MakingTimes(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** One maker, guarded by itself. */
    private static final class Known {
        double secondsPerByte;
        int times;
        int underWay;
        long restsUntilNs;
        boolean rests;
    }

    private Known of(Place maker) {
        return makers.computeIfAbsent(maker, _ -> new Known());
    }

    /** Whether anything was measured of it. */
    boolean isKnown(Place maker) {
        Known known = of(maker);
        synchronized (known) {
            return known.times > 0;
        }
    }

    /** Seconds until a file of so many bytes would be made of which so many samples are under way already; 0 for a maker of which nothing is known. */
    double seconds(Place maker, int threads, long bytes) {
        Known known = of(maker);
        synchronized (known) {
            return bytes * known.secondsPerByte * turns(known.underWay + 1, threads);
        }
    }

    /** Seconds until another maker, of which only its announcement is known, would have made it with the threads of this one. */
    double secondsAs(Place known, int threads, int ahead, long bytes) {
        Known like = of(known);
        synchronized (like) {
            return bytes * like.secondsPerByte * turns(ahead + 1, threads);
        }
    }

    private static double turns(int samples, int threads) {
        return Math.max(1, (double) samples / threads);
    }

    /** How many samples it has under way for this node. */
    int underWay(Place maker) {
        Known known = of(maker);
        synchronized (known) {
            return known.underWay;
        }
    }

    /** The maker has said that it has enough to do: it is not asked for a while. */
    void rest(Place maker, long ns) {
        Known known = of(maker);
        synchronized (known) {
            known.rests = true;
            known.restsUntilNs = clockNs.getAsLong() + ns;
        }
    }

    /** Whether it is not to be asked now. */
    boolean isResting(Place maker) {
        Known known = of(maker);
        synchronized (known) {
            known.rests = known.rests && known.restsUntilNs - clockNs.getAsLong() > 0;
            return known.rests;
        }
    }

    /** What was measured of it no longer holds. */
    void forget(Place maker) {
        Known known = of(maker);
        synchronized (known) {
            known.times = 0;
            known.secondsPerByte = 0;
        }
    }

    /** One sample that is being made, from its begin to its end. Used by one thread. */
    final class Work implements AutoCloseable {
        private final Known known;
        private final long bytes;
        private final double turns;
        private final long startNs = clockNs.getAsLong();

        private Work(Known known, long bytes, double turns) {
            this.known = known;
            this.bytes = bytes;
            this.turns = turns;
        }

        /** It is made, or would have been later than this. Returns the seconds since its begin. */
        double took() {
            double seconds = (clockNs.getAsLong() - startNs) / NANOS_PER_SECOND;
            synchronized (known) {
                known.times++;
                double weight = Math.max(NEWEST_WEIGHS, 1.0 / known.times);
                double each = seconds / turns / Math.max(1, bytes);
                known.secondsPerByte += weight * (each - known.secondsPerByte);
            }
            return seconds;
        }

        @Override
        public void close() {
            synchronized (known) {
                known.underWay--;
            }
        }
    }

    /** Begins the making of a file of so many bytes; the caller closes it. */
    Work begin(Place maker, int threads, long bytes) {
        Known known = of(maker);
        synchronized (known) {
            known.underWay++;
            return new Work(known, bytes, turns(known.underWay, threads));
        }
    }
}
