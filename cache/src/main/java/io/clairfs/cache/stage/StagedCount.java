package io.clairfs.cache.stage;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many samples are staged for positions that were not read yet, each counted once.
 *
 * <p>Counting looks at all those positions, of which there may be a million, under the lock of their job. So where there are many, the figure is
 * given again for a while, longer the more there are: counting takes a few percent of a processor then, however often somebody asks. Not
 * thread-safe: the lock of the windows guards it.
 */
public final class StagedCount {
    /** So many positions are counted each time, for it takes no longer than a millisecond. */
    static final int FEW = 10_000;

    /** Some twenty times as long as a look at one of them takes. */
    private static final long PAUSE_NS_PER_POSITION = TimeUnit.MICROSECONDS.toNanos(2);

    private final List<StreamWindow> windows;
    private final LongSupplier clockNs;
    private int counted;
    private long countedNs;
    private long pauseNs;

    /** {@code clockNs} only runs forward, nanoseconds. */
    public StagedCount(List<StreamWindow> windows, LongSupplier clockNs) {
        this.windows = windows;
        this.clockNs = clockNs;
    }

    /** The number of samples, seconds old where there are a million. */
    public int samples() {
        long nowNs = clockNs.getAsLong();
        if (pauseNs > 0 && nowNs - countedNs < pauseNs) {
            return counted;
        }
        BitSet files = new BitSet();
        long positions = 0;
        for (StreamWindow window : windows) {
            positions += window.addStaged(files);
        }
        counted = files.cardinality();
        countedNs = nowNs;
        pauseNs = positions > FEW ? positions * PAUSE_NS_PER_POSITION : 0;
        return counted;
    }
}
