package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The calls for a program that hands over a descriptor, in a message on a socket. */
final class HelperCalls {
    private static final int F_SETFD = 2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;

    // struct msghdr and struct cmsghdr of 64-bit Linux
    private static final int MSGHDR_BYTES = 56;
    private static final int CMSG_BYTES = 24;
    private static final int CMSG_DATA = 16;

    private static final NativeFunction FCNTL = NativeFunction.of("fcntl");
    private static final NativeFunction RECVMSG = NativeFunction.of("recvmsg");

    private HelperCalls() {}

    /** Lets processes that {@link io.clairfs.cache.posix.ChildProcess#start} starts inherit {@code fd}. Processes that the JDK starts close it. */
    static void inherit(int fd) throws PosixException {
        checked("fcntl", (int) FCNTL.call(fd, F_SETFD, 0));
    }

    /** The descriptor in the message that waits at {@code socket}, or -1 when there is none. The caller closes it. */
    static int receiveDescriptor(int socket) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(8, 8);
            MemorySegment pieces = arena.allocate(16, 8);
            pieces.set(ADDRESS, 0, text);
            pieces.set(JAVA_LONG, 8, 1);
            MemorySegment control = arena.allocate(CMSG_BYTES, 8);
            MemorySegment message = arena.allocate(MSGHDR_BYTES, 8);
            message.set(ADDRESS, 16, pieces);
            message.set(JAVA_LONG, 24, 1);
            message.set(ADDRESS, 32, control);
            message.set(JAVA_LONG, 40, CMSG_BYTES);
            long n = RECVMSG.call(socket, message.address(), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
            if (n < 0 && NativeCall.errno() != Errno.EAGAIN) {
                throw new PosixException("recvmsg", NativeCall.errno());
            }
            return n > 0 && message.get(JAVA_LONG, 40) == CMSG_BYTES ? control.get(JAVA_INT, CMSG_DATA) : -1;
        }
    }

    private static int checked(String call, int result) throws PosixException {
        if (result < 0) {
            throw new PosixException(call, NativeCall.errno());
        }
        return result;
    }
}
