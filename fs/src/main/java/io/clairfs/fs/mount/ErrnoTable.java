package io.clairfs.fs.mount;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.source.SourceUnfitException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * The one place where a throwable becomes an errno.
 *
 * <p>An errno of the source or of a system call is passed on, but for {@code EAGAIN} and {@code EINTR}, which are {@code EIO}: programs take them for no failure
 * and go on without the bytes. So is one of the kernel's own, which clients of NFS let out (ESERVERFAULT, ENOTSUPP): the kernel takes no such reply, and the reader would wait for ever. A source that does not answer is {@code EIO}, a changed source
 * {@code ESTALE}, a file that a view cannot show {@code EIO}, a lack of memory {@code ENOMEM}. Anything else is a bug, logged with its trace, and {@code EIO} to the reader.
 * Every failure is reported to {@code log}.
 */
public final class ErrnoTable {
    private static final Logger LOG = System.getLogger(ErrnoTable.class.getName());

    /** Beyond it are the kernel's own. */
    private static final int LAST = 511;

    private final FailureLog log;

    public ErrnoTable(FailureLog log) {
        this.log = log;
    }

    /** Notes a failed operation; {@code path} begins with a slash. */
    @FunctionalInterface
    public interface FailureLog {
        void failed(String operation, byte[] path, String reason);
    }

    /** The negative errno for {@code thrown}. Never throws. */
    public int negative(String operation, byte[] path, Throwable thrown) {
        try {
            log.failed(operation, path, String.valueOf(thrown.getMessage()));
            int errno = errno(operation, thrown);
            return isForPrograms(errno) ? -errno : -Errno.EIO;
        } catch (Throwable t) {
            return -Errno.EIO;
        }
    }

    private static boolean isForPrograms(int errno) {
        return errno > 0 && errno <= LAST && errno != Errno.EAGAIN && errno != Errno.EINTR;
    }

    private static int errno(String operation, Throwable thrown) {
        return switch (thrown) {
            case SourceException e -> errno(e);
            case PosixException e -> e.errno();
            case OutOfMemoryError e -> Errno.ENOMEM;
            default -> {
                LOG.log(Level.ERROR, "a bug in " + operation, thrown);
                yield Errno.EIO;
            }
        };
    }

    private static int errno(SourceException thrown) {
        return switch (thrown) {
            case SourceFailedException e -> e.errno();
            case SourceChangedException e -> Errno.ESTALE;
            case SourceTimeoutException e -> Errno.EIO;
            case SourceUnfitException e -> Errno.EIO;
        };
    }
}
