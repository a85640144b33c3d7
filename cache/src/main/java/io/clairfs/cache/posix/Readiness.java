package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Waits until descriptors are readable, or looks whether one has failed: {@code poll}. */
public final class Readiness {
    /** In place of a timeout: no limit. */
    public static final int FOREVER = -1;

    private static final NativeFunction POLL = NativeFunction.of("poll");
    private static final short POLLIN = 1;
    private static final short POLLPRI = 2;
    private static final int POLLFD_BYTES = 8;

    private Readiness() {}

    /**
     * Waits until one of the descriptors can be read from or is at its end, for {@code timeoutMs} milliseconds at most.
     *
     * @return false on a timeout; true also after a signal, so the caller checks for itself
     */
    public static boolean await(int timeoutMs, int... descriptors) throws PosixException {
        return poll(POLLIN, timeoutMs, descriptors);
    }

    /**
     * Waits for priority data, {@code timeoutMs} milliseconds at most. With it the kernel's files under {@code /proc} signal a change.
     *
     * @return false on a timeout; true also after a signal, so the caller checks for itself
     */
    public static boolean awaitChange(int timeoutMs, int descriptor) throws PosixException {
        return poll(POLLPRI, timeoutMs, descriptor);
    }

    /** Whether a descriptor can be read from or is at its end, as a process descriptor is when its process has ended. Waits for nothing. */
    public static boolean isReady(int descriptor) throws PosixException {
        int ready;
        do {
            ready = ready(POLLIN, 0, descriptor);
        } while (ready < 0);
        return ready > 0;
    }

    /** Whether the kernel says of a descriptor that it is of no more use, as of the device of a FUSE connection that has ended. Waits for nothing. */
    public static boolean hasFailed(int descriptor) throws PosixException {
        int ready;
        do {
            ready = ready((short) 0, 0, descriptor); // failures are told without being asked for
        } while (ready < 0);
        return ready > 0;
    }

    private static boolean poll(short event, int timeoutMs, int... descriptors) throws PosixException {
        return ready(event, timeoutMs, descriptors) != 0;
    }

    /** How many of the descriptors are ready; negative after a signal. */
    private static int ready(short event, int timeoutMs, int... descriptors) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment polled = arena.allocate((long) descriptors.length * POLLFD_BYTES, 4);
            for (int i = 0; i < descriptors.length; i++) {
                polled.set(JAVA_INT, (long) i * POLLFD_BYTES, descriptors[i]);
                polled.set(JAVA_SHORT, (long) i * POLLFD_BYTES + Integer.BYTES, event);
            }
            int ready = (int) POLL.call(polled.address(), descriptors.length, timeoutMs);
            if (ready < 0 && NativeCall.errno() != Errno.EINTR) {
                throw new PosixException("poll", NativeCall.errno());
            }
            return ready;
        }
    }
}
