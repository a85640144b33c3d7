package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Two ends of a connection between this process and one that it starts. */
public final class SocketPair {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final NativeFunction SOCKETPAIR = NativeFunction.of("socketpair");

    private SocketPair() {}

    /** The descriptors of both ends, which no process inherits unless it is told to. The caller closes both. */
    public static int[] open() throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(JAVA_INT, 2);
            int rc = (int) SOCKETPAIR.call(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.address());
            if (rc < 0) {
                throw new PosixException("socketpair", NativeCall.errno());
            }
            return both.toArray(JAVA_INT);
        }
    }
}
