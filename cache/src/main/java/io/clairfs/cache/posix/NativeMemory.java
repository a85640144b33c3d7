package io.clairfs.cache.posix;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Memory outside the heap with an explicit lifetime: {@code malloc} and {@code free}.
 *
 * <p>An {@link java.lang.foreign.Arena} that several threads may use stops all threads for a moment when it closes, which is too expensive
 * per sample; reference counts in {@code cache.tier} give the safety instead. Blocks up to 32 MiB come from the heap of the C library
 * rather than from mmap, so that freed samples are reused without page faults. Larger ones have a mapping each, and are {@linkplain #keepLarge kept} for a moment.
 */
@SuppressWarnings("restricted")
public final class NativeMemory {
    private static final NativeFunction MALLOC = NativeFunction.of("malloc");
    private static final NativeFunction FREE = NativeFunction.of("free");
    private static final NativeFunction MALLOPT = NativeFunction.of("mallopt");
    private static final int M_TRIM_THRESHOLD = -1;
    private static final int M_MMAP_THRESHOLD = -3;
    private static final int LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024;

    private static final NativeFunction HEAP_END = NativeFunction.of("sbrk");

    private static final LargeBlocks LARGE = new LargeBlocks();
    private static final LongAdder HELD = new LongAdder();
    private static volatile @Nullable MemoryAhead ahead;
    private static volatile long together;

    static {
        // The largest threshold that glibc accepts; setting it also stops glibc from moving it.
        long _ = MALLOPT.call(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD);
        long _ = MALLOPT.call(M_TRIM_THRESHOLD, 4 * LARGEST_MMAP_THRESHOLD);
    }

    private NativeMemory() {}

    /**
     * From now on touches memory a little before it is taken, while the heap of the C library grows. For a process that takes much of it, with all
     * of the C library's memory in one heap.
     */
    public static synchronized void touchAhead() {
        if (ahead == null) {
            long block = MALLOC.call(MemoryAhead.STEP);
            MemoryAhead made = new MemoryAhead(() -> HEAP_END.call(0), block);
            long _ = FREE.call(block);
            made.start();
            ahead = made;
        }
    }

    /**
     * From now on keeps large blocks that are freed, {@code bytes} at most, for a moment: for the next ones.
     *
     * @param togetherBytes so much all memory of {@link #allocate} may take, with what is kept
     */
    public static void keepLarge(long bytes, long togetherBytes) {
        together = togetherBytes;
        LARGE.keep(bytes);
    }

    /** Frees kept blocks where they and what is allocated are too much. */
    private static void keepWithin() {
        long kept = LARGE.keptBytes();
        if (kept > 0) {
            long excess = HELD.sum() + kept - together;
            if (excess > 0) {
                LARGE.drop(excess);
            }
        }
    }

    /** Touches memory that is about to be written, so that the writer need not wait until the kernel has given and cleared it; its contents stay as they are. */
    public static void touch(MemorySegment part) {
        long from = part.address() & -MemoryAhead.STEP; // in whole huge pages
        boolean _ = MemoryAhead.touch(from, part.address() + part.byteSize() - from);
    }

    /** Whether a block of this size has a mapping of its own. */
    public static boolean isLarge(long bytes) {
        return bytes > LARGEST_MMAP_THRESHOLD;
    }

    /** {@code bytes} of memory with undefined contents; {@link #free} releases it. */
    public static MemorySegment allocate(long bytes) {
        long block = isLarge(bytes) ? LARGE.take(bytes) : 0;
        if (block == 0) {
            block = MALLOC.call(Math.max(bytes, 1));
        }
        if (block == 0) {
            throw new OutOfMemoryError("no native memory for " + bytes + " bytes");
        }
        HELD.add(bytes);
        keepWithin();
        MemoryAhead growing = ahead;
        if (growing != null) {
            growing.taken(block + bytes);
        }
        return MemorySegment.ofAddress(block).reinterpret(bytes);
    }

    /** Bytes that are allocated now. */
    public static long heldBytes() {
        return HELD.sum();
    }

    /** Frees memory of {@link #allocate}. */
    public static void free(MemorySegment block) {
        HELD.add(-block.byteSize());
        if (isLarge(block.byteSize())) {
            LARGE.free(block.address(), block.byteSize());
            keepWithin();
        } else {
            long _ = FREE.call(block.address());
        }
    }
}
