package io.clairfs.cache.tier;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What a million pinned samples cost: each recent sample that comes in beside them, and the heap. Run by name. */
final class MemoryTierBenchmark {
    private static final int PINS = 1_000_000;
    private static final int RECENT = 1_000;

    @Test
    void recentSamplesBesideAMillionPins() {
        SampleBuffer.allocate(1).release();
        try (MemoryTier tier = new MemoryTier(2L * PINS)) {
            long before = heapBytes();
            long startNs = System.nanoTime();
            for (int file = 0; file < PINS; file++) {
                SampleBuffer one = SampleBuffer.allocate(1);
                tier.keep(file, one);
                one.release();
            }
            double pinNs = (System.nanoTime() - startNs) / (double) PINS;
            double heapEach = (heapBytes() - before) / (double) PINS;
            long[] ns = new long[RECENT];
            for (int i = 0; i < RECENT; i++) {
                SampleBuffer recent = SampleBuffer.allocate(PINS / 100);
                long from = System.nanoTime();
                tier.keepRecent(PINS + i, recent);
                ns[i] = System.nanoTime() - from;
                recent.release();
            }
            Arrays.sort(ns);
            System.out.printf(
                    "%,d pins: %.0f ns and %.0f bytes of heap each; keepRecent: median %.1f us, 99 %% %.1f us, most %.1f us, all %,d %.1f ms%n",
                    PINS,
                    pinNs,
                    heapEach,
                    ns[RECENT / 2] / 1e3,
                    ns[RECENT * 99 / 100] / 1e3,
                    ns[RECENT - 1] / 1e3,
                    RECENT,
                    Arrays.stream(ns).sum() / 1e6);
        }
    }

    private static long heapBytes() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
