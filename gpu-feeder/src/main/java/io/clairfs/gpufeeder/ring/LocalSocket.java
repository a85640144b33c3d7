package io.clairfs.gpufeeder.ring;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** The calls for sockets between processes of one machine that keep messages apart ({@code SOCK_SEQPACKET}) and carry descriptors. */
final class LocalSocket {
    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET = 5;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int ADDRESS_BYTES = 110;
    private static final long PIDFD_OPEN = 434;

    private static final NativeFunction SOCKET = NativeFunction.of("socket");
    private static final NativeFunction SOCKETPAIR = NativeFunction.of("socketpair");
    private static final NativeFunction BIND = NativeFunction.of("bind");
    private static final NativeFunction LISTEN = NativeFunction.of("listen");
    private static final NativeFunction ACCEPT = NativeFunction.of("accept4");
    private static final NativeFunction SENDMSG = NativeFunction.of("sendmsg");
    private static final NativeFunction GETSOCKOPT = NativeFunction.of("getsockopt");
    private static final NativeFunction SYSCALL = NativeFunction.of("syscall");

    private LocalSocket() {}

    /** The process at the other end. In another PID namespace it has the number 0. */
    record Peer(int pid, int uid) {}

    private interface Call {
        int run(Arena arena);
    }

    private static int check(String name, Call call) throws PosixException {
        int result;
        try (Arena arena = Arena.ofConfined()) {
            do {
                result = call.run(arena);
            } while (result < 0 && NativeCall.errno() == Errno.EINTR);
        }
        if (result < 0) {
            throw new PosixException(name, NativeCall.errno());
        }
        return result;
    }

    /** A listening socket. A name that begins with a zero has no file; it is gone with the socket. */
    static int listen(String name) throws PosixException {
        byte[] bytes = name.getBytes(UTF_8);
        if (bytes.length >= ADDRESS_BYTES - Short.BYTES) {
            throw new PosixException("socket name of " + bytes.length + " bytes", 36 /* ENAMETOOLONG */);
        }
        int socket = check("socket", _ -> (int) SOCKET.call(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        try {
            check("bind", arena -> {
                MemorySegment address = arena.allocate(ADDRESS_BYTES, 2);
                address.set(JAVA_SHORT, 0, (short) AF_UNIX);
                MemorySegment.copy(bytes, 0, address, JAVA_BYTE, Short.BYTES, bytes.length);
                return (int) BIND.call(socket, address.address(), Short.BYTES + bytes.length);
            });
            check("listen", _ -> (int) LISTEN.call(socket, 1));
            return socket;
        } catch (PosixException e) {
            Posix.close(socket);
            throw e;
        }
    }

    /** The next connection. */
    static int accept(int listening) throws PosixException {
        return check("accept", _ -> (int) ACCEPT.call(listening, 0, 0, SOCK_CLOEXEC));
    }

    /** Two sockets that are connected to each other. */
    static int[] pair() throws PosixException {
        int[] both = new int[2];
        check("socketpair", arena -> {
            MemorySegment pair = arena.allocate(2L * Integer.BYTES, 4);
            int rc = (int) SOCKETPAIR.call(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.address());
            MemorySegment.copy(pair, JAVA_INT, 0, both, 0, 2);
            return rc;
        });
        return both;
    }

    static Peer peer(int socket) throws PosixException {
        int[] ids = new int[3];
        check("getsockopt", arena -> {
            MemorySegment credentials = arena.allocate(3L * Integer.BYTES, 4);
            MemorySegment length = arena.allocateFrom(JAVA_INT, 3 * Integer.BYTES);
            int rc = (int) GETSOCKOPT.call(socket, SOL_SOCKET, SO_PEERCRED, credentials.address(), length.address());
            MemorySegment.copy(credentials, JAVA_INT, 0, ids, 0, 3);
            return rc;
        });
        return new Peer(ids[0], ids[1]);
    }

    /** A descriptor that becomes readable when the process has ended. */
    static int processDescriptor(int pid) throws PosixException {
        return check("pidfd_open", _ -> (int) SYSCALL.call(PIDFD_OPEN, pid, 0));
    }

    /** Sends a message, and with it a descriptor unless that is negative. */
    static void send(int socket, MemorySegment message, int descriptor) throws PosixException {
        check("send", arena -> {
            MemorySegment piece = arena.allocate(MessageIo.IOVEC_BYTES, 8);
            MessageIo.piece(piece, 0, message.address(), message.byteSize());
            MemorySegment header = arena.allocate(56, 8); // struct msghdr
            header.set(ADDRESS, 16, piece);
            header.set(JAVA_LONG, 24, 1);
            if (descriptor >= 0) {
                MemorySegment control = arena.allocate(24, 8); // CMSG_SPACE of one descriptor
                control.set(JAVA_LONG, 0, 20);
                control.set(JAVA_INT, 8, SOL_SOCKET);
                control.set(JAVA_INT, 12, SCM_RIGHTS);
                control.set(JAVA_INT, 16, descriptor);
                header.set(ADDRESS, 32, control);
                header.set(JAVA_LONG, 40, control.byteSize());
            }
            try {
                return (int) SENDMSG.call(socket, header.address(), MSG_NOSIGNAL);
            } finally {
                Reference.reachabilityFence(message);
            }
        });
    }
}
