package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Place;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Places that seem too slow. One fetch at a time asks such a place all the same, at first soon and then less and less often, until some in a row
 * were quick: else what is known of it would never change.
 *
 * <p>Thread-safe. Its one lock, per place, is the innermost.
 */
final class PlacesOnTrial {
    private static final int QUICK_IN_A_ROW = 3;
    private static final long SHORTEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(10);

    private final LongSupplier clockNs;
    private final ConcurrentHashMap<Place, Trial> trials = new ConcurrentHashMap<>();

    /** {@code clockNs} is as {@link System#nanoTime}. */
    PlacesOnTrial(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Guarded by itself. */
    private static final class Trial {
        boolean underWay;
        boolean failed;
        int quick;
        long pauseNs = SHORTEST_PAUSE_NS;
        long endedNs;
    }

    private Trial of(Place place) {
        return trials.computeIfAbsent(place, _ -> new Trial());
    }

    /** Whether the caller makes the one fetch; it then calls {@link #end}. */
    boolean begin(Place place) {
        Trial trial = of(place);
        synchronized (trial) {
            if (trial.underWay || (trial.failed && clockNs.getAsLong() - trial.endedNs < trial.pauseNs)) {
                return false;
            }
            trial.underWay = true;
            return true;
        }
    }

    /** Ends a trial. Returns whether the place has passed: earlier times no longer hold. */
    boolean end(Place place, boolean wasQuick) {
        Trial trial = of(place);
        synchronized (trial) {
            trial.underWay = false;
            trial.failed = !wasQuick; // a quick one is tried again at once
            trial.endedNs = clockNs.getAsLong();
            trial.pauseNs = wasQuick ? SHORTEST_PAUSE_NS : Math.min(LONGEST_PAUSE_NS, 2 * trial.pauseNs);
            trial.quick = wasQuick ? trial.quick + 1 : 0;
            boolean passed = trial.quick >= QUICK_IN_A_ROW;
            if (passed) {
                trial.quick = 0;
            }
            return passed;
        }
    }
}
