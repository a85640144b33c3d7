package io.clairfs.cache.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DirectoryReader;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** A source that is a directory of a mounted filesystem: local disk, NFS, Lustre, a bucket behind FUSE. */
public final class DirectorySource implements Source {
    private static final byte[] HERE = {'.'};

    private final int root;

    /** Opens {@code directory}, which must exist and be readable. */
    public DirectorySource(Path directory) throws SourceFailedException {
        try {
            root = Posix.openAt(
                    Posix.AT_FDCWD, directory.toString().getBytes(UTF_8), Posix.O_RDONLY | Posix.O_DIRECTORY);
        } catch (PosixException e) {
            throw new SourceFailedException("source " + directory, e.errno());
        }
    }

    @Override
    public List<byte[]> names(byte[] directory) throws SourceException {
        try {
            int fd = Posix.openAt(root, orHere(directory), Posix.O_RDONLY | Posix.O_DIRECTORY | Posix.O_NOFOLLOW);
            try {
                return DirectoryReader.names(fd);
            } finally {
                Posix.close(fd);
            }
        } catch (PosixException e) {
            throw failed(directory, e);
        }
    }

    @Override
    public FileStatus status(byte[] path) throws SourceException {
        try {
            return Posix.statAt(root, orHere(path), Posix.AT_SYMLINK_NOFOLLOW);
        } catch (PosixException e) {
            throw failed(path, e);
        }
    }

    @Override
    public byte[] linkTarget(byte[] path) throws SourceException {
        try {
            return Posix.readLinkAt(root, path);
        } catch (PosixException e) {
            throw failed(path, e);
        }
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
        try {
            int fd = Posix.openAt(root, file.path(), Posix.O_RDONLY | Posix.O_NOFOLLOW | Posix.O_NONBLOCK);
            try {
                requireUnchanged(file, fd);
                for (long at = 0; at < into.byteSize(); ) {
                    long n = Posix.pread(fd, into.asSlice(at), offset + at);
                    if (n == 0) {
                        throw new SourceChangedException(show(file.path()));
                    }
                    at += n;
                }
                requireUnchanged(file, fd);
            } finally {
                Posix.close(fd);
            }
        } catch (PosixException e) {
            throw failed(file.path(), e);
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
        return e.errno() == Errno.ELOOP || e.errno() == Errno.ENOTDIR
                ? new SourceChangedException(show(path))
                : new SourceFailedException(show(path), e.errno());
    }

    private static String show(byte[] path) {
        return new String(orHere(path), UTF_8);
    }

    @Override
    public void close() {
        Posix.close(root);
    }
}
