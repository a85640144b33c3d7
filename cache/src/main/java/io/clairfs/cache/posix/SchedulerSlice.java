package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * How long a thread computes in a turn before the kernel gives the processor to another.
 *
 * <p>From Linux 6.12 on it is a property of the thread: {@code sched_setattr(2)}, {@code sched_runtime} of a thread of the usual policy. Threads
 * that wake take the processor from one whose slice is longer than theirs, at once, and its share of the processor stays what it is.
 */
public final class SchedulerSlice {
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
    private static final long SCHED_SETATTR = ARM ? 274 : 314;
    private static final long SCHED_GETATTR = ARM ? 275 : 315;
    private static final NativeFunction SYSCALL = NativeFunction.of("syscall");

    /** The first version of {@code struct sched_attr}, which every kernel takes; where its policy and its runtime lie in it. */
    private static final int ATTRIBUTES_BYTES = 48;

    private static final long POLICY_AT = 4;
    private static final long RUNTIME_AT = 24;
    private static final int SCHED_OTHER = 0;
    private static final int THIS_THREAD = 0;
    private static final int NO_FLAGS = 0;

    /** The kernel cuts longer ones to this. */
    private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private SchedulerSlice() {}

    /**
     * Gives the calling thread the longest slice, so that all others go first when they wake. Returns false where that cannot be had: the
     * thread has another policy, or the system refuses the call. A kernel before 6.12 takes it and changes nothing.
     */
    public static boolean lengthen() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ATTRIBUTES_BYTES, Long.BYTES);
            if (call(SCHED_GETATTR, attributes, ATTRIBUTES_BYTES) != 0
                    || attributes.get(JAVA_INT, POLICY_AT) != SCHED_OTHER) {
                return false;
            }
            attributes.set(JAVA_LONG, RUNTIME_AT, LONGEST_NS);
            return call(SCHED_SETATTR, attributes, NO_FLAGS) == 0;
        }
    }

    /** The slice of the calling thread, nanoseconds; 0 where the kernel does not tell, as before Linux 6.12. */
    public static long ofThisThreadNs() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ATTRIBUTES_BYTES, Long.BYTES);
            return call(SCHED_GETATTR, attributes, ATTRIBUTES_BYTES) == 0 ? attributes.get(JAVA_LONG, RUNTIME_AT) : 0;
        }
    }

    private static long call(long number, MemorySegment attributes, int third) {
        return SYSCALL.call(number, THIS_THREAD, attributes.address(), third, NO_FLAGS);
    }
}
