package io.clairfs.cache.tier.ssd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DirectoryReader;
import io.clairfs.cache.posix.DiskCalls;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The directory of one dataset on the local disk: its path, its lock, its format file, and its files by name.
 *
 * <p>It is named after the source, so that datasets never share samples. Only its owner may enter it: files that the source protects must
 * not become readable through a cache.
 */
final class TierDirectory implements AutoCloseable {
    private static final String LOCK = "lock";
    private static final String FORMAT = "format";
    private static final byte[] THIS_FORMAT = "clairfs ssd segments 1\n".getBytes(UTF_8);
    private static final int DIRECTORY_MODE = 0700;
    private static final int FILE_MODE = 0600;
    private static final int FOR_OTHERS = 0077;

    private final Path path;
    private final int lock;

    /**
     * Opens the directory below {@code root} for the dataset at {@code sourcePath}; makes it if needed.
     *
     * @param inherited whether its last user was killed and may keep the lock until its last thread has ended; it writes nothing any more, so its lock is
     *     waited for by a thread, and not here
     * @throws IOException when it cannot be made or another mount uses it; the message says what to do
     */
    TierDirectory(Path root, String sourcePath, boolean inherited) throws IOException {
        path = directoryOf(root, sourcePath);
        makeDirectory(root);
        makeDirectory(path);
        requirePrivate();
        lock = openLock();
        boolean ready = false;
        try {
            if (!DiskCalls.tryLock(lock) && !(inherited && lockLater())) {
                throw new IOException("SSD directory " + path + " is in use by another mount of " + sourcePath
                        + "; give this mount another directory or unmount the other one");
            }
            checkFormat();
            ready = true;
        } finally {
            if (!ready) {
                Posix.close(lock);
            }
        }
    }

    private static Path directoryOf(Path root, String sourcePath) {
        return root.resolve(SampleIdentity.hexOf(sourcePath.getBytes(UTF_8)));
    }

    /** Bytes of the disk that an earlier mount of {@code sourcePath} has taken below {@code root}; 0 where none is, or another user's. */
    static long bytesLeft(Path root, String sourcePath) {
        Path left = directoryOf(root, sourcePath);
        long taken = 0;
        try {
            for (String name : namesIn(left)) {
                FileStatus status = Posix.statAt(Posix.AT_FDCWD, bytes(left.resolve(name)), Posix.AT_SYMLINK_NOFOLLOW);
                taken += status.isRegular() ? FreeSpace.inBlocks(status.size()) : 0;
            }
        } catch (PosixException noneOrNotOurs) {
            return taken;
        }
        return taken;
    }

    private boolean lockLater() {
        Thread.ofPlatform().daemon().name("ssd-lock").start(() -> {
            try {
                DiskCalls.lock(lock);
            } catch (PosixException e) {
                System.getLogger(TierDirectory.class.getName())
                        .log(System.Logger.Level.WARNING, path + " is not locked: " + e.getMessage());
            }
        });
        return true;
    }

    private static void makeDirectory(Path directory) throws IOException {
        try {
            DiskCalls.makeDirectoryAt(Posix.AT_FDCWD, bytes(directory), DIRECTORY_MODE);
        } catch (PosixException e) {
            if (e.errno() != Errno.EEXIST && !isDirectory(directory)) {
                throw new IOException(
                        "cannot make SSD directory " + directory + " (" + e.getMessage()
                                + "); give a directory on a local disk that you may write to",
                        e);
            }
        }
    }

    /** If other users may write to the root, one could have made the directory first. */
    private void requirePrivate() throws IOException {
        FileStatus status = Posix.statAt(Posix.AT_FDCWD, bytes(path), Posix.AT_SYMLINK_NOFOLLOW);
        if (!status.isDirectory() || status.uid() != ProcessIdentity.userId() || (status.mode() & FOR_OTHERS) != 0) {
            throw new IOException("SSD directory " + path
                    + " is open to others or not this user's; remove it or give another directory");
        }
    }

    private static boolean isDirectory(Path directory) {
        try {
            return Posix.statAt(Posix.AT_FDCWD, bytes(directory), 0).isDirectory();
        } catch (PosixException e) {
            return false;
        }
    }

    private int openLock() throws IOException {
        try {
            return open(LOCK, Posix.O_RDWR | Posix.O_CREAT);
        } catch (PosixException e) {
            try {
                return open(LOCK, Posix.O_RDONLY); // a disk that became read-only can still serve samples
            } catch (PosixException again) {
                throw new IOException(
                        "cannot use SSD directory " + path + " (" + e.getMessage()
                                + "); give a directory on a local disk that you may write to",
                        e);
            }
        }
    }

    /** Removes the files of an unknown format, which nothing can use any more. */
    private void checkFormat() throws IOException {
        if (Arrays.equals(readFormat(), THIS_FORMAT)) {
            return;
        }
        try {
            for (String name : names()) {
                if (!name.equals(LOCK)) {
                    removeIfFile(name);
                }
            }
            int fd = open(FORMAT, Posix.O_WRONLY | Posix.O_CREAT);
            try {
                write(fd, MemorySegment.ofBuffer(direct(THIS_FORMAT)), 0);
            } finally {
                Posix.close(fd);
            }
        } catch (PosixException e) {
            throw new IOException(
                    "cannot prepare SSD directory " + path + " (" + e.getMessage() + "); remove it or make it writable",
                    e);
        }
    }

    private byte[] readFormat() throws IOException {
        try {
            int fd = open(FORMAT, Posix.O_RDONLY);
            try {
                MemorySegment found = MemorySegment.ofBuffer(direct(new byte[THIS_FORMAT.length + 1]));
                long n = read(fd, found, 0);
                return found.asSlice(0, n).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            } finally {
                Posix.close(fd);
            }
        } catch (PosixException e) {
            if (e.errno() == Errno.ENOENT) {
                return new byte[0];
            }
            throw new IOException(
                    "cannot read " + path.resolve(FORMAT) + " (" + e.getMessage() + "); remove " + path, e);
        }
    }

    private static java.nio.ByteBuffer direct(byte[] bytes) {
        return java.nio.ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private void removeIfFile(String name) throws PosixException {
        if (!status(name).isDirectory()) {
            delete(name);
        }
    }

    /** The path of the directory. */
    Path path() {
        return path;
    }

    /** Bytes of the files that are always there. */
    static long fixedBytes() {
        return THIS_FORMAT.length;
    }

    /** The names of all files. */
    List<String> names() throws PosixException {
        return namesIn(path);
    }

    private static List<String> namesIn(Path path) throws PosixException {
        int fd = Posix.openAt(Posix.AT_FDCWD, bytes(path), Posix.O_RDONLY | Posix.O_DIRECTORY);
        try {
            List<String> names = new ArrayList<>();
            for (byte[] name : DirectoryReader.names(fd)) {
                names.add(new String(name, UTF_8));
            }
            return names;
        } finally {
            Posix.close(fd);
        }
    }

    /** Opens a file, or makes it, for its owner only. The caller closes the descriptor. */
    int open(String name, int flags) throws PosixException {
        return Posix.openAt(Posix.AT_FDCWD, bytes(path.resolve(name)), flags | Posix.O_NOFOLLOW, FILE_MODE);
    }

    FileStatus status(String name) throws PosixException {
        return Posix.statAt(Posix.AT_FDCWD, bytes(path.resolve(name)), Posix.AT_SYMLINK_NOFOLLOW);
    }

    /** Removes a file; a missing file counts as removed. */
    void delete(String name) throws PosixException {
        try {
            DiskCalls.unlinkAt(Posix.AT_FDCWD, bytes(path.resolve(name)));
        } catch (PosixException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    /** Makes a file end after {@code bytes}; does nothing if it is missing. */
    void truncate(String name, long bytes) throws PosixException {
        int fd;
        try {
            fd = open(name, Posix.O_WRONLY);
        } catch (PosixException e) {
            if (e.errno() == Errno.ENOENT) {
                return;
            }
            throw e;
        }
        try {
            DiskCalls.truncate(fd, bytes);
        } finally {
            Posix.close(fd);
        }
    }

    /** Bytes that may still be written to its filesystem. */
    long freeBytes() throws PosixException {
        return DiskCalls.freeBytes(bytes(path));
    }

    /** Writes all of {@code from}. */
    static void write(int fd, MemorySegment from, long offset) throws PosixException {
        for (long at = 0; at < from.byteSize(); ) {
            long n = DiskCalls.pwrite(fd, from.asSlice(at), offset + at);
            if (n == 0) {
                throw new PosixException("write", Errno.EIO);
            }
            at += n;
        }
    }

    /** Fills {@code into} as far as the file goes. Returns the bytes read. */
    static long read(int fd, MemorySegment into, long offset) throws PosixException {
        long at = 0;
        while (at < into.byteSize()) {
            long n = Posix.pread(fd, into.asSlice(at), offset + at);
            if (n == 0) {
                break;
            }
            at += n;
        }
        return at;
    }

    private static byte[] bytes(Path path) {
        return path.toString().getBytes(UTF_8);
    }

    /** Releases the lock. */
    @Override
    public void close() {
        Posix.close(lock);
    }
}
