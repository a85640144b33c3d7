package io.clairfs.cache.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DirectoryReader;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.SharedDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A source that is a directory of a mounted filesystem: local disk, NFS, Lustre, a bucket behind FUSE.
 *
 * <p>Nothing outside it is ever listed or read: a directory that became a link after it was listed is not followed.
 *
 * <p>A FUSE filesystem whose process was restarted is another mount at the same place, and earlier descriptors are dead for ever. The
 * directory is opened again when that is detected.
 */
public final class DirectorySource implements Source {
    private static final byte[] HERE = {'.'};

    /** How often the source may be replaced during one call. */
    private static final int MOST_REPLACEMENTS = 3;

    private final byte[] directory;
    private final long inode;
    /** The directory as it was opened last. */
    private volatile SharedDescriptor root;

    /** Opens {@code directory}, which must exist and be readable. */
    public DirectorySource(Path directory) throws SourceFailedException {
        this.directory = directory.toString().getBytes(UTF_8);
        try {
            int fd = open();
            try {
                inode = Posix.stat(fd).inode();
            } catch (PosixException e) {
                Posix.close(fd);
                throw e;
            }
            root = new SharedDescriptor(fd);
        } catch (PosixException e) {
            throw new SourceFailedException("source " + directory, e.errno());
        }
    }

    private int open() throws PosixException {
        return Posix.openAt(Posix.AT_FDCWD, directory, Posix.O_RDONLY | Posix.O_DIRECTORY);
    }

    /** A call that starts at the root. */
    @FunctionalInterface
    private interface Call<T> {
        T from(int root) throws PosixException;
    }

    private <T> T call(Call<T> call) throws PosixException {
        for (int left = MOST_REPLACEMENTS; ; left--) {
            SharedDescriptor at = root;
            try {
                return call(at, call);
            } catch (PosixException e) {
                if (left == 0 || !isToBeRepeated(at, e)) {
                    throw e;
                }
            }
        }
    }

    /** Whether a call that failed at {@code at} is repeated at the root that has replaced it. */
    private boolean isToBeRepeated(SharedDescriptor at, PosixException e) {
        boolean lost = e.errno() == Errno.ENOTCONN || e.errno() == Errno.ECONNABORTED;
        return root != at || (lost && replaced(at));
    }

    private static <T> T call(SharedDescriptor at, Call<T> call) throws PosixException {
        if (!at.enter()) {
            throw new PosixException("source", Errno.EBADF);
        }
        try {
            return call.from(at.number());
        } finally {
            at.leave();
        }
    }

    /** Whether another root has replaced {@code lost}, opened now if possible: the directory opened first, not what lies under its mount. */
    private synchronized boolean replaced(SharedDescriptor lost) {
        if (root != lost) {
            return true;
        }
        try {
            int fresh = open();
            if (!isSame(fresh)) {
                Posix.close(fresh);
                return false;
            }
            root = new SharedDescriptor(fresh);
            lost.close();
            return true;
        } catch (PosixException stillDead) {
            return false;
        }
    }

    /** Whether it is the directory opened first. A dead mount can be opened, but its status fails. */
    private boolean isSame(int fresh) {
        try {
            return Posix.stat(fresh).inode() == inode;
        } catch (PosixException stillDead) {
            return false;
        }
    }

    @Override
    public List<byte[]> names(byte[] path) throws SourceException {
        try {
            int fd = call(at -> Posix.openBeneath(at, orHere(path), Posix.O_RDONLY | Posix.O_DIRECTORY));
            try {
                return DirectoryReader.names(fd);
            } finally {
                Posix.close(fd);
            }
        } catch (PosixException e) {
            throw failed(path, e);
        }
    }

    @Override
    public FileStatus status(byte[] path) throws SourceException {
        try {
            return call(at -> Posix.statAt(at, orHere(path), Posix.AT_SYMLINK_NOFOLLOW));
        } catch (PosixException e) {
            throw failed(path, e);
        }
    }

    @Override
    public byte[] linkTarget(byte[] path) throws SourceException {
        try {
            return call(at -> Posix.readLinkAt(at, path));
        } catch (PosixException e) {
            throw failed(path, e);
        }
    }

    @Override
    public @Nullable FileStatus statusBehind(byte[] link) throws SourceException {
        try {
            return call(at -> Posix.statAt(at, link, 0));
        } catch (PosixException e) {
            return switch (e.errno()) {
                case Errno.ENOENT, Errno.ENOTDIR, Errno.ELOOP, Errno.EACCES, Errno.ENAMETOOLONG -> null;
                default -> throw failed(link, e);
            };
        }
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
        read(file, fd -> {
            readFully(file, fd, offset, into);
            requireUnchanged(file, fd);
        });
    }

    /** Opens the file once for all pieces, before it asks for the first one's turn, and again if the source is replaced between two of them. */
    @Override
    public void read(SourceFile file, MemorySegment into, Pieces pieces) throws SourceException {
        read(file, new InPieces(file, into, pieces));
    }

    /** Reads from an open file. If the source is replaced meanwhile, it is called again with the file of the new one. */
    @FunctionalInterface
    private interface Reading {
        void from(int fd) throws PosixException, SourceException;
    }

    /** Continues where it was when the file is opened again. */
    private static final class InPieces implements Reading {
        private final SourceFile file;
        private final MemorySegment into;
        private final Pieces pieces;
        private long at;
        /** Bytes of the current piece; 0 before its turn. */
        private long bytes;

        InPieces(SourceFile file, MemorySegment into, Pieces pieces) {
            this.file = file;
            this.into = into;
            this.pieces = pieces;
        }

        @Override
        public void from(int fd) throws PosixException, SourceException {
            while (bytes > 0 || (bytes = pieces.next(at)) > 0) {
                readFully(file, fd, at, into.asSlice(at, bytes));
                requireUnchanged(file, fd);
                at += bytes;
                bytes = 0;
            }
        }
    }

    private void read(SourceFile file, Reading reading) throws SourceException {
        try {
            for (int left = MOST_REPLACEMENTS; ; left--) {
                SharedDescriptor at = root;
                try {
                    readOnce(file, reading);
                    return;
                } catch (PosixException e) {
                    if (left == 0 || !isToBeRepeated(at, e)) {
                        throw e;
                    }
                }
            }
        } catch (PosixException e) {
            throw failed(file.path(), e);
        }
    }

    private void readOnce(SourceFile file, Reading reading) throws PosixException, SourceException {
        int fd = call(at -> Posix.openBeneath(at, file.path(), Posix.O_RDONLY | Posix.O_NONBLOCK));
        try {
            requireUnchanged(file, fd);
            reading.from(fd);
        } finally {
            Posix.close(fd);
        }
    }

    private static void readFully(SourceFile file, int fd, long offset, MemorySegment into)
            throws PosixException, SourceChangedException {
        for (long at = 0; at < into.byteSize(); ) {
            long n = Posix.pread(fd, into.asSlice(at), offset + at);
            if (n == 0) {
                throw new SourceChangedException(show(file.path()));
            }
            at += n;
        }
    }

    private static void requireUnchanged(SourceFile file, int fd) throws PosixException, SourceChangedException {
        FileStatus now = Posix.stat(fd);
        if (!now.isRegular() || now.size() != file.size() || now.mtimeNs() != file.mtimeNs()) {
            throw new SourceChangedException(show(file.path()));
        }
    }

    private static byte[] orHere(byte[] path) {
        return path.length == 0 ? HERE : path;
    }

    private static SourceException failed(byte[] path, PosixException e) {
        // A directory or link where a file was listed: the source was rearranged.
        return e.errno() == Errno.ELOOP || e.errno() == Errno.ENOTDIR || e.errno() == Errno.EXDEV
                ? new SourceChangedException(show(path))
                : new SourceFailedException(show(path), e.errno());
    }

    private static String show(byte[] path) {
        return new String(orHere(path), UTF_8);
    }

    @Override
    public synchronized void close() {
        root.close();
    }
}
