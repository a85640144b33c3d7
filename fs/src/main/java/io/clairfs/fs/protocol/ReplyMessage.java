package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.SharedDescriptor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/** One thread's memory for replies: {@code struct fuse_out_header}, what follows it, and the list of pieces. */
final class ReplyMessage {
    /** Bytes of the header. */
    static final int HEADER_BYTES = 16;

    private static final Logger LOG = System.getLogger(ReplyMessage.class.getName());
    private static final int SMALL_BYTES = 4096;

    /** For threads that have no memory left for their own. */
    private static final ReplyMessage SPARE = new ReplyMessage();

    private static final ThreadLocal<ReplyMessage> OF_THREAD = ThreadLocal.withInitial(ReplyMessage::new);

    private final MemorySegment pieces = Arena.ofAuto().allocate(2 * MessageIo.IOVEC_BYTES, 8);
    private MemorySegment memory = Arena.ofAuto().allocate(SMALL_BYTES, 8);

    private ReplyMessage() {}

    /** The calling thread's instance. */
    static ReplyMessage ofThread() {
        return OF_THREAD.get();
    }

    /** Room for a body of {@code bytes}, filled with zeros. Valid until the thread's next reply. */
    MemorySegment body(int bytes) {
        if (memory.byteSize() < HEADER_BYTES + bytes) {
            memory = Arena.ofAuto().allocate(HEADER_BYTES + (long) bytes, 8);
        }
        return memory.asSlice(HEADER_BYTES, bytes).fill((byte) 0);
    }

    /** Sends the first {@code bytes} of the body. */
    void send(SharedDescriptor channel, long unique, long bytes) {
        header(unique, 0, bytes);
        MessageIo.piece(pieces, 0, memory.address(), HEADER_BYTES + bytes);
        write(channel, unique, 1);
    }

    /** Sends {@code data} from where it lies, without a copy in this process. */
    void send(SharedDescriptor channel, long unique, MemorySegment data) {
        header(unique, 0, data.byteSize());
        MessageIo.piece(pieces, 0, memory.address(), HEADER_BYTES);
        MessageIo.piece(pieces, 1, data.address(), data.byteSize());
        write(channel, unique, 2);
    }

    /** Sends an array. */
    void send(SharedDescriptor channel, long unique, byte[] data) {
        MemorySegment.copy(data, 0, body(data.length), JAVA_BYTE, 0, data.length);
        send(channel, unique, data.length);
    }

    /** Sends an error, a negative errno. */
    void fail(SharedDescriptor channel, long unique, int error) {
        header(unique, error, 0);
        MessageIo.piece(pieces, 0, memory.address(), HEADER_BYTES);
        write(channel, unique, 1);
    }

    /** Sends an error, a negative errno, also from a thread that finds no memory for its first reply: the reader must not wait for ever. */
    static void failInAnyCase(SharedDescriptor channel, long unique, int error) {
        failInAnyCase(OF_THREAD::get, channel, unique, error);
    }

    static void failInAnyCase(Supplier<ReplyMessage> own, SharedDescriptor channel, long unique, int error) {
        ReplyMessage message;
        try {
            message = own.get();
        } catch (OutOfMemoryError e) {
            synchronized (SPARE) {
                SPARE.fail(channel, unique, error);
            }
            return;
        }
        message.fail(channel, unique, error);
    }

    private void header(long unique, int error, long bytes) {
        memory.set(JAVA_INT, 0, Math.toIntExact(HEADER_BYTES + bytes));
        memory.set(JAVA_INT, 4, error);
        memory.set(JAVA_LONG, 8, unique);
    }

    /** Ignores errors by which the kernel says that no reader waits any more: it was killed, or the mount is gone. */
    private void write(SharedDescriptor channel, long unique, int count) {
        if (!channel.enter()) {
            return;
        }
        int rc;
        try {
            rc = MessageIo.writev(channel.number(), pieces, count);
        } finally {
            channel.leave();
        }
        if (rc == 0 || isGone(rc)) {
            return;
        }
        LOG.log(Level.ERROR, "the kernel refused a reply of " + memory.get(JAVA_INT, 0) + " bytes with errno " + -rc);
        if (memory.get(JAVA_INT, 4) != -Errno.EIO) {
            fail(channel, unique, -Errno.EIO); // the reader must not wait for ever
        }
    }

    private static boolean isGone(int rc) {
        return rc == -Errno.ENOENT
                || rc == -Errno.ENODEV
                || rc == -Errno.EPERM
                || rc == -Errno.ENOTCONN
                || rc == -Errno.ECONNABORTED
                || rc == -Errno.EBADF;
    }
}
