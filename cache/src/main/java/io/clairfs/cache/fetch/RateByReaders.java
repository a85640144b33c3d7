package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Throughput;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The throughput of the source by how many pieces are requested at once, from the times that pieces took. {@link InFlightLimit} varies this
 * number, so several are measured; what is above the limit gains nothing. Not thread-safe; its {@link SourceTurns} guards it.
 */
final class RateByReaders {
    private final double newestWeighs;
    private final long believedNs;
    private final List<Level> levels = new ArrayList<>();

    /**
     * @param newestWeighs the weight of a piece in the mean
     * @param believedNs how long a number of readers counts that has not been seen again
     */
    RateByReaders(double newestWeighs, long believedNs) {
        this.newestWeighs = newestWeighs;
        this.believedNs = believedNs;
    }

    /** Means of pieces that arrived while so many readers were there. */
    private static final class Level {
        private double bytes;
        private double seconds;
        private long lastNs;
    }

    /** A piece arrived. {@code readers} includes its own. */
    void arrived(int readers, long bytes, long tookNs, long nowNs) {
        while (levels.size() <= readers) {
            levels.add(new Level());
        }
        Level level = levels.get(readers);
        double weight = isBelieved(level, nowNs) ? newestWeighs : 1;
        level.bytes += weight * (bytes - level.bytes);
        level.seconds += weight * (tookNs * 1e-9 - level.seconds);
        level.lastNs = nowNs;
    }

    private boolean isBelieved(Level level, long nowNs) {
        return level.seconds > 0 && level.bytes > 0 && nowNs - level.lastNs <= believedNs;
    }

    /** Bytes per second of all readers together by their number; null when nothing was measured lately. */
    @Nullable
    Throughput curve(long nowNs) {
        List<Throughput.Point> points = new ArrayList<>();
        for (int readers = 1; readers < levels.size(); readers++) {
            Level level = levels.get(readers);
            if (isBelieved(level, nowNs)) {
                points.add(new Throughput.Point(readers, readers * level.bytes / level.seconds));
            }
        }
        return points.isEmpty() ? null : new Throughput(points);
    }
}
