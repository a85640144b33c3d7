package io.clairfs.tools.calibrate;

import io.clairfs.cache.posix.NativeMemory;
import io.clairfs.tools.config.ModelFile.Device;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Measures how fast samples are copied out of memory and into it, r_1(p) and w_1(p), outside the processor's caches. */
final class MemorySpeed {
    private static final int SAMPLE = 110_000;
    private static final long BLOCK_BYTES = 256L << 20;
    private static final int MOST_THREADS = 8;

    private MemorySpeed() {}

    /** The number of steps of a measurement. */
    static int steps() {
        return 2 * Integer.bitCount(2 * MOST_THREADS - 1);
    }

    static Device measure(long stepMs, Runnable stepDone) throws IOException {
        MemorySegment block = NativeMemory.allocate(BLOCK_BYTES);
        try {
            block.fill((byte) 1);
            Map<Integer, Double> read = ThreadSweep.measure(() -> copier(block, true), MOST_THREADS, stepMs, stepDone);
            Map<Integer, Double> write =
                    ThreadSweep.measure(() -> copier(block, false), MOST_THREADS, stepMs, stepDone);
            return new Device(null, null, read, write);
        } finally {
            NativeMemory.free(block);
        }
    }

    private static ThreadSweep.Work copier(MemorySegment block, boolean read) {
        MemorySegment own = MemorySegment.ofArray(new byte[SAMPLE]);
        return () -> {
            MemorySegment place = block.asSlice(ThreadLocalRandom.current().nextLong(BLOCK_BYTES - SAMPLE), SAMPLE);
            if (read) {
                own.copyFrom(place);
            } else {
                place.copyFrom(own);
            }
            return SAMPLE;
        };
    }
}
