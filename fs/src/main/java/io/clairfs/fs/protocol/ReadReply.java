package io.clairfs.fs.protocol;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.fs.mount.ErrnoTable;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/** The answer to one request for bytes, given once: by the thread that took the request, or later by another. Thread-safe. */
public final class ReadReply {
    private static final Logger LOG = System.getLogger(ReadReply.class.getName());

    private final SharedDescriptor channel;
    private final long unique;
    private final long file;
    private final NodeFilesystem filesystem;
    private final ErrnoTable errnos;
    private final AtomicBoolean given = new AtomicBoolean();

    ReadReply(SharedDescriptor channel, long unique, long file, NodeFilesystem filesystem, ErrnoTable errnos) {
        this.channel = channel;
        this.unique = unique;
        this.file = file;
        this.filesystem = filesystem;
        this.errnos = errnos;
    }

    /** Answers with bytes of native memory, which the caller may free afterwards. Fewer than requested mean the file's end. */
    public void bytes(MemorySegment data) {
        if (given.compareAndSet(false, true)) {
            try {
                ReplyMessage.ofThread().send(channel, unique, data);
            } catch (Throwable t) {
                fail(t); // the reader must not wait for ever
            }
        }
    }

    /** Answers with the errno for {@code reason}. */
    public void failed(Throwable reason) {
        if (given.compareAndSet(false, true)) {
            fail(reason);
        }
    }

    private void fail(Throwable reason) {
        int error = -Errno.EIO;
        try {
            error = errnos.negative(Opcode.READ.toString(), filesystem.path(file), reason);
        } catch (Throwable t) { // where memory is short, for one
            LOG.log(Level.DEBUG, "no errno for a failed read", t);
        }
        ReplyMessage.failInAnyCase(channel, unique, error);
    }
}
