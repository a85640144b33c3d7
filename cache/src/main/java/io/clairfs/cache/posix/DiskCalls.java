package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls for files that this program writes: those of an SSD tier. Paths and failures are as in {@link Posix}. They are a class of their own because a handle
 * takes several milliseconds to make, and a mount without an SSD needs none of them.
 */
@SuppressWarnings("restricted")
public final class DiskCalls {
    private static final int STATVFS_SIZE = 112;
    private static final int LOCK_EXCLUSIVE = 2;
    private static final int LOCK_EXCLUSIVE_NO_WAIT = 2 | 4;

    private static final MethodHandle PWRITE =
            NativeCall.bind("pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FTRUNCATE =
            NativeCall.bind("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle UNLINKAT =
            NativeCall.bind("unlinkat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle MKDIRAT =
            NativeCall.bind("mkdirat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FLOCK =
            NativeCall.bind("flock", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle STATVFS =
            NativeCall.bind("statvfs", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

    private DiskCalls() {}

    /** Writes at most {@code from.byteSize()} bytes at {@code offset}. Returns the bytes written, which may be fewer. */
    public static long pwrite(int fd, MemorySegment from, long offset) throws PosixException {
        while (true) {
            long n;
            try {
                n = (long) PWRITE.invokeExact(NativeCall.state(), fd, from, from.byteSize(), offset);
            } catch (Throwable t) {
                throw NativeCall.bug(t);
            }
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
        try {
            do {
                rc = (int) FTRUNCATE.invokeExact(NativeCall.state(), fd, bytes);
            } while (rc != 0 && NativeCall.errno() == Errno.EINTR);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (rc != 0) {
            throw new PosixException("truncate", NativeCall.errno());
        }
    }

    /** Removes the name of a file; an open file stays readable. */
    public static void unlinkAt(int directory, byte[] path) throws PosixException {
        int rc;
        try {
            rc = (int) UNLINKAT.invokeExact(NativeCall.state(), directory, Posix.cString(path), 0);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (rc != 0) {
            throw new PosixException("unlink", NativeCall.errno());
        }
    }

    /** Makes one directory, whose parent must exist. */
    public static void makeDirectoryAt(int directory, byte[] path, int mode) throws PosixException {
        int rc;
        try {
            rc = (int) MKDIRAT.invokeExact(NativeCall.state(), directory, Posix.cString(path), mode);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
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
        int rc;
        try {
            rc = (int) FLOCK.invokeExact(NativeCall.state(), fd, LOCK_EXCLUSIVE_NO_WAIT);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (rc != 0 && NativeCall.errno() != Errno.EAGAIN) {
            throw new PosixException("flock", NativeCall.errno());
        }
        return rc == 0;
    }

    /** As {@link #tryLock}, but waits for the other holder. */
    public static void lock(int fd) throws PosixException {
        int rc;
        do {
            try {
                rc = (int) FLOCK.invokeExact(NativeCall.state(), fd, LOCK_EXCLUSIVE);
            } catch (Throwable t) {
                throw NativeCall.bug(t);
            }
        } while (rc != 0 && NativeCall.errno() == Errno.EINTR);
        if (rc != 0) {
            throw new PosixException("flock", NativeCall.errno());
        }
    }

    /** Bytes that this user may still write to the filesystem that holds {@code path}. */
    public static long freeBytes(byte[] path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(STATVFS_SIZE, 8);
            int rc;
            try {
                rc = (int) STATVFS.invokeExact(NativeCall.state(), Posix.cString(path), out);
            } catch (Throwable t) {
                throw NativeCall.bug(t);
            }
            if (rc != 0) {
                throw new PosixException("statvfs", NativeCall.errno());
            }
            return Math.multiplyExact(out.get(JAVA_LONG, 0x08), out.get(JAVA_LONG, 0x20));
        }
    }
}
