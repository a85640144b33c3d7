package io.clairfs.fs.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The Linux calls of this package: inotify, and an eventfd for wake-ups. */
final class KernelCalls {
    static final int IN_CLOSE_NOWRITE = 0x10;
    static final int IN_OPEN = 0x20;
    static final int IN_ONLYDIR = 0x01000000;
    static final int IN_Q_OVERFLOW = 0x4000;
    static final int IN_IGNORED = 0x8000;
    static final int IN_ISDIR = 0x40000000;

    private static final MethodHandle INOTIFY_INIT =
            NativeCall.bind("inotify_init1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle INOTIFY_ADD_WATCH =
            NativeCall.bind("inotify_add_watch", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));

    private static final MethodHandle EVENTFD =
            NativeCall.bind("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle EVENTFD_WRITE =
            NativeCall.bind("eventfd_write", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));

    private KernelCalls() {}

    /** Opens a queue of events whose reads do not block. The caller closes it. */
    static int inotify() throws PosixException {
        try {
            return checked("inotify_init", (int)
                    INOTIFY_INIT.invokeExact(NativeCall.state(), Posix.O_NONBLOCK | Posix.O_CLOEXEC));
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    /** Watches a directory. Returns the watch's number in the queue's events. */
    static int watch(int queue, byte[] path, int events) throws PosixException {
        MemorySegment name = Posix.cString(path);
        try {
            return checked(
                    "inotify_add_watch", (int) INOTIFY_ADD_WATCH.invokeExact(NativeCall.state(), queue, name, events));
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    /** Reads the bytes that are there. Returns their number, or 0 when there are none. */
    static long readAvailable(int fd, MemorySegment into) throws PosixException {
        long n = MessageIo.read(fd, into);
        if (n >= 0) {
            return n;
        }
        if (n == -Errno.EAGAIN || n == -Errno.EINTR) {
            return 0;
        }
        throw new PosixException("read events", (int) -n);
    }

    /** Opens a descriptor that is readable after {@link #makeReadable}. The caller closes it. */
    static int event() throws PosixException {
        try {
            return checked(
                    "eventfd", (int) EVENTFD.invokeExact(NativeCall.state(), 0, Posix.O_NONBLOCK | Posix.O_CLOEXEC));
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    /** Ends all waits for {@code event}. */
    static void makeReadable(int event) throws PosixException {
        try {
            checked("eventfd_write", (int) EVENTFD_WRITE.invokeExact(NativeCall.state(), event, 1L));
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    private static int checked(String call, int result) throws PosixException {
        if (result < 0) {
            throw new PosixException(call, NativeCall.errno());
        }
        return result;
    }
}
