package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Reads and writes whole messages on a device or socket that takes nothing less. Errors are returned as numbers: they are part of the protocol. */
public final class MessageIo {
    /** Bytes of one {@code struct iovec}. */
    public static final int IOVEC_BYTES = 16;

    private static final NativeFunction READ = NativeFunction.of("read");
    private static final NativeFunction WRITEV = NativeFunction.of("writev");

    private MessageIo() {}

    /** Reads one message. Returns its bytes, or a negative errno, {@code EINTR} included. */
    public static long read(int fd, MemorySegment into) {
        long n = READ.call(fd, into, into.byteSize(), 0);
        return n >= 0 ? n : -NativeCall.errno();
    }

    /** Writes {@code count} pieces, described by {@code struct iovec}s, as one message. Returns 0 or a negative errno. */
    public static int writev(int fd, MemorySegment pieces, int count) {
        while (true) {
            long written = WRITEV.call(fd, pieces, count, 0);
            if (written >= 0) {
                return 0;
            }
            if (NativeCall.errno() != Errno.EINTR) {
                return -NativeCall.errno();
            }
        }
    }

    /** Describes piece {@code at} of a message. */
    public static void piece(MemorySegment pieces, int at, long address, long length) {
        pieces.set(JAVA_LONG, (long) at * IOVEC_BYTES, address);
        pieces.set(JAVA_LONG, (long) at * IOVEC_BYTES + Long.BYTES, length);
    }
}
