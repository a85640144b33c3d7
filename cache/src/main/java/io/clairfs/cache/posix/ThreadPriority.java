package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** The priority of a thread for the kernel's scheduler, which a JVM does not set by itself. */
public final class ThreadPriority {
    private static final MethodHandle SETPRIORITY =
            NativeCall.bind("setpriority", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));

    private static final int PRIO_PROCESS = 0;

    /** As {@code who}: on Linux the calling thread, not its process. */
    private static final int SELF = 0;

    private static final int LOWEST = 19;

    private ThreadPriority() {}

    /**
     * Gives the calling thread the lowest priority for good (nice 19), about a seventieth of the time of another thread that wants the same
     * core. Returns whether that worked.
     */
    public static boolean lower() {
        try {
            return (int) SETPRIORITY.invokeExact(NativeCall.state(), PRIO_PROCESS, SELF, LOWEST) == 0;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }
}
