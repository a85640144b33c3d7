package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * One thread's wait until something can be read from a descriptor for which many threads wait: what arrives wakes one of them ({@code epoll} with
 * EPOLLEXCLUSIVE).
 */
public final class ExclusiveWait implements AutoCloseable {
    private static final int EPOLL_CLOEXEC = 02000000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLLIN = 1;
    private static final int EPOLLEXCLUSIVE = 1 << 28;
    private static final int FOR_EVER = -1;

    /** {@code struct epoll_event} has 12 bytes on x86, and 16 elsewhere. */
    private static final int EVENT_BYTES = 16;

    private static final MethodHandle CREATE =
            NativeCall.bind("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CONTROL =
            NativeCall.bind("epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle WAIT =
            NativeCall.bind("epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));

    private final int epoll;
    private final MemorySegment event = Arena.ofAuto().allocate(EVENT_BYTES, 8);

    private ExclusiveWait(int epoll) {
        this.epoll = epoll;
    }

    /** A wait for {@code fd}, which stays open as long as this. */
    public static ExclusiveWait of(int fd) throws PosixException {
        int epoll;
        try {
            epoll = (int) CREATE.invokeExact(NativeCall.state(), EPOLL_CLOEXEC);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (epoll < 0) {
            throw new PosixException("epoll_create1", NativeCall.errno());
        }
        ExclusiveWait wait = new ExclusiveWait(epoll);
        try {
            wait.add(fd);
            return wait;
        } catch (PosixException e) {
            wait.close();
            throw e;
        }
    }

    private void add(int fd) throws PosixException {
        event.set(JAVA_INT, 0, EPOLLIN | EPOLLEXCLUSIVE);
        int rc;
        try {
            rc = (int) CONTROL.invokeExact(NativeCall.state(), epoll, EPOLL_CTL_ADD, fd, event);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (rc != 0) {
            throw new PosixException("epoll_ctl", NativeCall.errno());
        }
    }

    /** Waits. Returns also for a signal, and for an error or the end of the descriptor, which a read tells. */
    public void await() {
        try {
            int _ = (int) WAIT.invokeExact(NativeCall.state(), epoll, event, 1, FOR_EVER);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    @Override
    public void close() {
        Posix.close(epoll);
    }
}
