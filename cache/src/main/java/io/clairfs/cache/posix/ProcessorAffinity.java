package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/** On which processors the calling thread runs. */
public final class ProcessorAffinity {
    private static final int CALLING_THREAD = 0;

    /** The kernel's masks are arrays of longs. */
    private static final int LEAST_LONGS = 16;

    private static final NativeFunction SET_AFFINITY = NativeFunction.of("sched_setaffinity");

    private ProcessorAffinity() {}

    /**
     * Keeps the calling thread on these processors from now on.
     *
     * @throws PosixException EINVAL if the process may use none of them
     */
    public static void keepOn(BitSet processors) throws PosixException {
        long[] mask = processors.toLongArray();
        int longs = Math.max(LEAST_LONGS, mask.length);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(JAVA_LONG, longs);
            MemorySegment.copy(mask, 0, bytes, JAVA_LONG, 0, mask.length);
            int result = (int) SET_AFFINITY.call(CALLING_THREAD, bytes.byteSize(), bytes.address());
            if (result != 0) {
                throw new PosixException("sched_setaffinity", NativeCall.errno());
            }
        }
    }
}
