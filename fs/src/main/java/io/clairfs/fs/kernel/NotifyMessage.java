package io.clairfs.fs.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.MessageIo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One thread's memory for a notification to the kernel: its header, its parameters, and the list of its pieces. */
final class NotifyMessage {
    // Linux, include/uapi/linux/fuse.h
    private static final int NOTIFY_INVALIDATE_INODE = 2;
    private static final int NOTIFY_STORE = 4;
    private static final int HEADER_BYTES = 16;
    private static final int STORE_BYTES = 24;
    private static final int INVALIDATE_BYTES = 24;

    private final MemorySegment head = Arena.ofAuto().allocate(HEADER_BYTES + STORE_BYTES, 8);
    private final MemorySegment pieces = Arena.ofAuto().allocate(2 * MessageIo.IOVEC_BYTES, 8);

    /** Stores {@code size} bytes at {@code address}, which the caller keeps alive, at {@code offset} of the file. Returns 0 or a negative errno. */
    int store(int session, long node, long offset, long address, int size) {
        header(HEADER_BYTES + STORE_BYTES + size, NOTIFY_STORE);
        head.set(JAVA_LONG, HEADER_BYTES, node);
        head.set(JAVA_LONG, HEADER_BYTES + 8, offset);
        head.set(JAVA_INT, HEADER_BYTES + 16, size);
        head.set(JAVA_INT, HEADER_BYTES + 20, 0);
        MessageIo.piece(pieces, 0, head.address(), HEADER_BYTES + STORE_BYTES);
        MessageIo.piece(pieces, 1, address, size);
        return MessageIo.writev(session, pieces, 2);
    }

    /** Makes the kernel forget all pages of the file. Returns as {@link #store}. */
    int invalidate(int session, long node) {
        header(HEADER_BYTES + INVALIDATE_BYTES, NOTIFY_INVALIDATE_INODE);
        head.set(JAVA_LONG, HEADER_BYTES, node);
        head.set(JAVA_LONG, HEADER_BYTES + 8, 0); // from the first byte
        head.set(JAVA_LONG, HEADER_BYTES + 16, 0); // to the last
        MessageIo.piece(pieces, 0, head.address(), HEADER_BYTES + INVALIDATE_BYTES);
        return MessageIo.writev(session, pieces, 1);
    }

    private void header(int length, int code) {
        head.set(JAVA_INT, 0, length);
        head.set(JAVA_INT, 4, code);
        head.set(JAVA_LONG, 8, 0);
    }
}
