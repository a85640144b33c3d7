package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread's wait until something can be read from a descriptor for which many threads wait: what arrives wakes one of them ({@code epoll} with
 * EPOLLEXCLUSIVE). Where no descriptor is free for that it wakes all: such a wait needs none ({@code poll}).
 */
public final class ExclusiveWait implements AutoCloseable {
    private static final int EPOLL_CLOEXEC = 02000000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLLIN = 1;
    private static final int EPOLLEXCLUSIVE = 1 << 28;
    private static final int FOR_EVER = -1;
    private static final int NONE = -1;
    private static final long FAILURE_PAUSE_NS = 20_000_000;

    /** {@code struct epoll_event} has 12 bytes on x86, and 16 elsewhere. */
    private static final int EVENT_BYTES = 16;

    private static final NativeFunction CREATE = NativeFunction.of("epoll_create1");
    private static final NativeFunction CONTROL = NativeFunction.of("epoll_ctl");
    private static final NativeFunction WAIT = NativeFunction.of("epoll_wait");

    private final int fd;
    private final int epoll;
    private final MemorySegment event = Arena.ofAuto().allocate(EVENT_BYTES, 8);

    private ExclusiveWait(int fd, int epoll) {
        this.fd = fd;
        this.epoll = epoll;
    }

    /** A wait for {@code fd}, which stays open as long as this. */
    public static ExclusiveWait of(int fd) throws PosixException {
        int epoll = (int) CREATE.call(EPOLL_CLOEXEC);
        if (epoll < 0) {
            return withoutDescriptor(fd);
        }
        ExclusiveWait wait = new ExclusiveWait(fd, epoll);
        try {
            wait.add(fd);
            return wait;
        } catch (PosixException e) {
            wait.close();
            throw e;
        }
    }

    /** Such a wait that takes no descriptor, and that what arrives ends for all. */
    public static ExclusiveWait withoutDescriptor(int fd) {
        return new ExclusiveWait(fd, NONE);
    }

    private void add(int fd) throws PosixException {
        event.set(JAVA_INT, 0, EPOLLIN | EPOLLEXCLUSIVE);
        int rc = (int) CONTROL.call(epoll, EPOLL_CTL_ADD, fd, event.address());
        if (rc != 0) {
            throw new PosixException("epoll_ctl", NativeCall.errno());
        }
    }

    /** Waits. Returns also for a signal, and for an error or the end of the descriptor, which a read tells. */
    public void await() {
        if (epoll == NONE) {
            awaitWithoutDescriptor();
            return;
        }
        long _ = WAIT.call(epoll, event, 1, FOR_EVER);
    }

    private void awaitWithoutDescriptor() {
        try {
            boolean _ = Readiness.await(Readiness.FOREVER, fd);
        } catch (PosixException noMemory) {
            LockSupport.parkNanos(FAILURE_PAUSE_NS);
        }
    }

    @Override
    public void close() {
        if (epoll != NONE) {
            Posix.close(epoll);
        }
    }
}
