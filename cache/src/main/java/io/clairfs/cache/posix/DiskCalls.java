package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Calls for files that this program writes: those of an SSD tier. Paths and failures are as in {@link Posix}.
 */
public final class DiskCalls {
    private static final int STATVFS_SIZE = 112;
    private static final int LOCK_EXCLUSIVE = 2;
    private static final int LOCK_EXCLUSIVE_NO_WAIT = 2 | 4;

    private static final NativeFunction PWRITE = NativeFunction.of("pwrite");
    private static final NativeFunction FTRUNCATE = NativeFunction.of("ftruncate");
    private static final NativeFunction UNLINKAT = NativeFunction.of("unlinkat");
    private static final NativeFunction MKDIRAT = NativeFunction.of("mkdirat");
    private static final NativeFunction FLOCK = NativeFunction.of("flock");
    private static final NativeFunction STATVFS = NativeFunction.of("statvfs");

    private DiskCalls() {}

    /** Writes at most {@code from.byteSize()} bytes at {@code offset}. Returns the bytes written, which may be fewer. */
    public static long pwrite(int fd, MemorySegment from, long offset) throws PosixException {
        while (true) {
            long n = PWRITE.call(fd, from, from.byteSize(), offset);
            if (n >= 0) {
                return n;
            }
            if (NativeCall.errno() != Errno.EINTR) {
                throw new PosixException("write", NativeCall.errno());
            }
        }
    }

    /** Makes the file end after {@code bytes}. */
    public static void truncate(int fd, long bytes) throws PosixException {
        int rc;
        do {
            rc = (int) FTRUNCATE.call(fd, bytes);
        } while (rc != 0 && NativeCall.errno() == Errno.EINTR);
        if (rc != 0) {
            throw new PosixException("truncate", NativeCall.errno());
        }
    }

    /** Removes the name of a file; an open file stays readable. */
    public static void unlinkAt(int directory, byte[] path) throws PosixException {
        int rc = (int) UNLINKAT.call(directory, Posix.cString(path).address(), 0);
        if (rc != 0) {
            throw new PosixException("unlink", NativeCall.errno());
        }
    }

    /** Makes one directory, whose parent must exist. */
    public static void makeDirectoryAt(int directory, byte[] path, int mode) throws PosixException {
        int rc = (int) MKDIRAT.call(directory, Posix.cString(path).address(), mode);
        if (rc != 0) {
            throw new PosixException("mkdir", NativeCall.errno());
        }
    }

    /**
     * Locks the file against every other open of it, in this process or another, until {@code fd} is closed or the process ends. A
     * {@link java.nio.channels.FileLock} would be lost as soon as this process closed any descriptor of the file.
     *
     * @return false when another holder has it
     */
    public static boolean tryLock(int fd) throws PosixException {
        int rc = (int) FLOCK.call(fd, LOCK_EXCLUSIVE_NO_WAIT);
        if (rc != 0 && NativeCall.errno() != Errno.EAGAIN) {
            throw new PosixException("flock", NativeCall.errno());
        }
        return rc == 0;
    }

    /** As {@link #tryLock}, but waits for the other holder. */
    public static void lock(int fd) throws PosixException {
        int rc;
        do {
            rc = (int) FLOCK.call(fd, LOCK_EXCLUSIVE);
        } while (rc != 0 && NativeCall.errno() == Errno.EINTR);
        if (rc != 0) {
            throw new PosixException("flock", NativeCall.errno());
        }
    }

    /** Bytes that this user may still write to the filesystem that holds {@code path}. */
    public static long freeBytes(byte[] path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(STATVFS_SIZE, 8);
            int rc = (int) STATVFS.call(Posix.cString(path).address(), out.address());
            if (rc != 0) {
                throw new PosixException("statvfs", NativeCall.errno());
            }
            return Math.multiplyExact(out.get(JAVA_LONG, 0x08), out.get(JAVA_LONG, 0x20));
        }
    }
}
