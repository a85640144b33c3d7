package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * Memory outside the heap with an explicit lifetime: {@code malloc} and {@code free}.
 *
 * <p>An {@link java.lang.foreign.Arena} that several threads may use stops all threads for a moment when it closes, which is too expensive
 * per sample; reference counts in {@code cache.tier} give the safety instead. Blocks up to 32 MiB come from the heap of the C library
 * rather than from mmap, so that freed samples are reused without page faults.
 */
@SuppressWarnings("restricted")
public final class NativeMemory {
    private static final MethodHandle MALLOC = NativeCall.bind("malloc", FunctionDescriptor.of(ADDRESS, JAVA_LONG));
    private static final MethodHandle FREE = NativeCall.bindPlain("free", FunctionDescriptor.ofVoid(ADDRESS));
    private static final MethodHandle MALLOPT =
            NativeCall.bindPlain("mallopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final int M_TRIM_THRESHOLD = -1;
    private static final int M_MMAP_THRESHOLD = -3;
    private static final int LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024;

    private static final LongAdder HELD = new LongAdder();

    static {
        try {
            // The largest threshold that glibc accepts; setting it also stops glibc from moving it.
            int _ = (int) MALLOPT.invokeExact(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD);
            int _ = (int) MALLOPT.invokeExact(M_TRIM_THRESHOLD, 4 * LARGEST_MMAP_THRESHOLD);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    private NativeMemory() {}

    /** {@code bytes} of memory with undefined contents; {@link #free} releases it. */
    public static MemorySegment allocate(long bytes) {
        MemorySegment block;
        try {
            block = (MemorySegment) MALLOC.invokeExact(NativeCall.state(), Math.max(bytes, 1));
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (block.address() == 0) {
            throw new OutOfMemoryError("no native memory for " + bytes + " bytes");
        }
        HELD.add(bytes);
        return block.reinterpret(bytes);
    }

    /** Bytes that are allocated now. */
    public static long heldBytes() {
        return HELD.sum();
    }

    /** Frees memory of {@link #allocate}. */
    public static void free(MemorySegment block) {
        HELD.add(-block.byteSize());
        try {
            FREE.invokeExact(block);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }
}
