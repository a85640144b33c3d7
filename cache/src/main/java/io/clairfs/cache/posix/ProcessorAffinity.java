package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;

/** On which processors the calling thread runs. */
public final class ProcessorAffinity {
    private static final int CALLING_THREAD = 0;

    /** The kernel's masks are arrays of longs. */
    private static final int LEAST_LONGS = 16;

    private static final MethodHandle SET_AFFINITY =
            NativeCall.bind("sched_setaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS));

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
            int result;
            try {
                result = (int) SET_AFFINITY.invokeExact(NativeCall.state(), CALLING_THREAD, bytes.byteSize(), bytes);
            } catch (Throwable t) {
                throw NativeCall.bug(t);
            }
            if (result != 0) {
                throw new PosixException("sched_setaffinity", NativeCall.errno());
            }
        }
    }
}
