package io.clairfs.fs.kernel;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.MemorySegment;

/** The Linux calls of this package: inotify, and an eventfd for wake-ups. */
final class KernelCalls {
    static final int IN_CLOSE_NOWRITE = 0x10;
    static final int IN_OPEN = 0x20;
    static final int IN_ONLYDIR = 0x01000000;
    static final int IN_Q_OVERFLOW = 0x4000;
    static final int IN_IGNORED = 0x8000;
    static final int IN_ISDIR = 0x40000000;

    private static final NativeFunction INOTIFY_INIT = NativeFunction.of("inotify_init1");
    private static final NativeFunction INOTIFY_ADD_WATCH = NativeFunction.of("inotify_add_watch");

    private static final NativeFunction EVENTFD = NativeFunction.of("eventfd");
    private static final NativeFunction EVENTFD_WRITE = NativeFunction.of("eventfd_write");

    private KernelCalls() {}

    /** Opens a queue of events whose reads do not block. The caller closes it. */
    static int inotify() throws PosixException {
        return checked("inotify_init", (int) INOTIFY_INIT.call(Posix.O_NONBLOCK | Posix.O_CLOEXEC));
    }

    /** Watches a directory. Returns the watch's number in the queue's events. */
    static int watch(int queue, byte[] path, int events) throws PosixException {
        MemorySegment name = Posix.cString(path);
        return checked("inotify_add_watch", (int) INOTIFY_ADD_WATCH.call(queue, name.address(), events));
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
        return checked("eventfd", (int) EVENTFD.call(0, Posix.O_NONBLOCK | Posix.O_CLOEXEC));
    }

    /** Ends all waits for {@code event}. */
    static void makeReadable(int event) throws PosixException {
        checked("eventfd_write", (int) EVENTFD_WRITE.call(event, 1));
    }

    private static int checked(String call, int result) throws PosixException {
        if (result < 0) {
            throw new PosixException(call, NativeCall.errno());
        }
        return result;
    }
}
