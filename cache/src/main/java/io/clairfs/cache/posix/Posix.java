package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * File calls that take names as bytes.
 *
 * <p>Every path is a {@code byte[]} without a terminating zero, relative to a directory descriptor (or {@link #AT_FDCWD}).
 * A call interrupted by a signal is repeated. Failures are {@link PosixException}s that carry the errno. Layouts are those of
 * 64-bit Linux; {@code statx} and {@code getdents64} have the same on every architecture.
 */
@SuppressWarnings("restricted")
public final class Posix {
    public static final int AT_FDCWD = -100;
    public static final int AT_EMPTY_PATH = 0x1000;
    public static final int AT_SYMLINK_NOFOLLOW = 0x100;
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 01;
    public static final int O_RDWR = 02;
    public static final int O_CREAT = 0100;
    public static final int O_EXCL = 0200;
    public static final int O_APPEND = 02000;
    public static final int O_NONBLOCK = 04000;
    public static final int O_CLOEXEC = 02000000;
    public static final int O_PATH = 010000000;
    /** These two differ between architectures: on ARM their bits are swapped with O_DIRECT and O_LARGEFILE. */
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

    public static final int O_DIRECTORY = ARM ? 040000 : 0200000;
    public static final int O_NOFOLLOW = ARM ? 0100000 : 0400000;

    /** The longest path that the kernel takes, terminating zero included. */
    public static final int PATH_MAX = 4096;

    /** Bytes of a page of the kernel's page cache: 4096, on ARM also 16384 or 65536. */
    public static final int PAGE_BYTES = (int) NativeFunction.of("getpagesize").call();

    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_SIZE = 256;
    private static final int LOCK_SH = 1;
    private static final int LOCK_NB = 4;
    private static final int F_SETFL = 4;
    private static final int F_DUPFD_CLOEXEC = 1030;

    private static final NativeFunction OPENAT = NativeFunction.of("openat");
    private static final NativeFunction SYSCALL = NativeFunction.of("syscall");
    private static final NativeFunction CLOSE = NativeFunction.of("close");
    private static final NativeFunction PREAD = NativeFunction.of("pread");
    private static final NativeFunction DUP2 = NativeFunction.of("dup2");
    private static final NativeFunction FCNTL = NativeFunction.of("fcntl");
    private static final NativeFunction FLOCK = NativeFunction.of("flock");
    private static final NativeFunction STATX = NativeFunction.of("statx");
    private static final NativeFunction GETDENTS = NativeFunction.of("getdents64");
    private static final NativeFunction READLINKAT = NativeFunction.of("readlinkat");
    private static final NativeFunction STRERROR = NativeFunction.of("strerror");
    /** One path and one statx buffer per thread: no allocation per call. */
    private static final ThreadLocal<MemorySegment> PATH =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(PATH_MAX));

    private static final long OPENAT2 = 437;
    private static final long HOW_BYTES = 24;
    private static final long RESOLVE_NO_SYMLINKS = 0x04;
    private static final long RESOLVE_BENEATH = 0x08;
    private static final ThreadLocal<MemorySegment> HOW =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(HOW_BYTES, 8));

    private static final ThreadLocal<MemorySegment> STATUS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATX_SIZE, 8));

    private Posix() {}

    /** Opens {@code path} below {@code directory}. Returns the descriptor, which the caller closes. */
    public static int openAt(int directory, byte[] path, int flags) throws PosixException {
        return openAt(directory, path, flags, 0);
    }

    /** Opens {@code path} below {@code directory}; a file that this creates gets {@code mode}. The caller closes the descriptor. */
    public static int openAt(int directory, byte[] path, int flags, int mode) throws PosixException {
        MemorySegment name = cString(path);
        while (true) {
            int fd = (int) OPENAT.call(directory, name.address(), flags | O_CLOEXEC, mode);
            if (fd >= 0) {
                return fd;
            }
            if (NativeCall.errno() != Errno.EINTR) {
                throw new PosixException("open", NativeCall.errno());
            }
        }
    }

    /** How often an open that the kernel or the file system asks to try again is tried again. */
    private static final int MOST_AGAIN = 3;

    /** Whether {@code openat2} works: kernel 5.6 and newer; some containers forbid it. */
    private static volatile boolean hasOpenat2 = true;

    /**
     * Opens {@code path} below {@code directory}; fails with ELOOP if a segment is a symbolic link, and with EXDEV if the path leads
     * outside. Without {@code openat2} only the last segment is checked. The caller closes the descriptor.
     */
    public static int openBeneath(int directory, byte[] path, int flags) throws PosixException {
        if (!hasOpenat2) {
            return openAt(directory, path, flags | O_NOFOLLOW);
        }
        MemorySegment name = cString(path);
        MemorySegment how = HOW.get();
        how.set(JAVA_LONG, 0, flags | O_CLOEXEC | O_NOFOLLOW);
        how.set(JAVA_LONG, 8, 0);
        how.set(JAVA_LONG, 16, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
        int again = 0;
        while (true) {
            long fd = SYSCALL.call(OPENAT2, directory, name.address(), how.address(), HOW_BYTES);
            if (fd >= 0) {
                return (int) fd;
            }
            int errno = NativeCall.errno();
            if (errno == Errno.ENOSYS || errno == Errno.EPERM) {
                int other = openAt(directory, path, flags | O_NOFOLLOW);
                hasOpenat2 = false;
                return other;
            }
            again += errno == Errno.EAGAIN ? 1 : 0;
            if (errno != Errno.EINTR && (errno != Errno.EAGAIN || again > MOST_AGAIN)) {
                throw new PosixException("open", errno);
            }
        }
    }

    /** Closes {@code fd}. An error is dropped: it has no remedy for descriptors that were only read. */
    public static void close(int fd) {
        int ignored = (int) CLOSE.call(fd);
        assert ignored == 0 || NativeCall.errno() != Errno.EBADF : "closed twice: " + fd;
    }

    /** A second descriptor of the open file of {@code fd}. The caller closes it. */
    public static int duplicate(int fd) throws PosixException {
        return duplicateFrom(fd, 0);
    }

    /** As {@link #duplicate}; the new descriptor's number is {@code lowest} or higher. */
    public static int duplicateFrom(int fd, int lowest) throws PosixException {
        int copy = (int) FCNTL.call(fd, F_DUPFD_CLOEXEC, lowest);
        if (copy < 0) {
            throw new PosixException("duplicate", NativeCall.errno());
        }
        return copy;
    }

    /** Has reads of the open file of {@code fd} fail with EAGAIN where there is nothing to read. */
    public static void doNotWait(int fd) throws PosixException {
        int rc = (int) FCNTL.call(fd, F_SETFL, O_RDWR | O_NONBLOCK);
        if (rc < 0) {
            throw new PosixException("fcntl", NativeCall.errno());
        }
    }

    /**
     * Takes a shared lock of the open file of {@code fd}, as the command {@code flock} knows it, unless somebody has it alone. The kernel gives it up
     * with the last descriptor. NFS passes it on to its server, so other machines see it.
     */
    public static void lockShared(int fd) throws PosixException {
        int rc = (int) FLOCK.call(fd, LOCK_SH | LOCK_NB);
        if (rc != 0) {
            throw new PosixException("lock", NativeCall.errno());
        }
    }

    /** Makes {@code fd} a descriptor of the open file of {@code by} and closes its old file. */
    public static void replace(int fd, int by) throws PosixException {
        int rc = (int) DUP2.call(by, fd);
        if (rc < 0) {
            throw new PosixException("dup2", NativeCall.errno());
        }
    }

    /** Reads at most {@code into.byteSize()} bytes at {@code offset}. Returns the bytes read; 0 is the end of the file. */
    public static long pread(int fd, MemorySegment into, long offset) throws PosixException {
        while (true) {
            long n = PREAD.call(fd, into, into.byteSize(), offset);
            if (n >= 0) {
                return n;
            }
            if (NativeCall.errno() != Errno.EINTR) {
                throw new PosixException("read", NativeCall.errno());
            }
        }
    }

    /** Status of {@code path} below {@code directory}; with an empty path and {@link #AT_EMPTY_PATH}, of the descriptor itself. */
    public static FileStatus statAt(int directory, byte[] path, int flags) throws PosixException {
        MemorySegment out = STATUS.get();
        int rc = (int) STATX.call(directory, cString(path).address(), flags, STATX_BASIC_STATS, out.address());
        if (rc != 0) {
            throw new PosixException("stat", NativeCall.errno());
        }
        return new FileStatus(
                Short.toUnsignedInt(out.get(JAVA_SHORT, 0x1c)),
                out.get(JAVA_INT, 0x14),
                out.get(JAVA_INT, 0x18),
                out.get(JAVA_LONG, 0x28),
                time(out, 0x70),
                out.get(JAVA_LONG, 0x20),
                time(out, 0x60));
    }

    /** A file's time. What is beyond the years 1677 to 2262 wraps around: it is compared with others, and stays different from most. */
    private static long time(MemorySegment status, long offset) {
        return status.get(JAVA_LONG, offset) * 1_000_000_000L + status.get(JAVA_INT, offset + 8);
    }

    /** Status of an open descriptor. */
    public static FileStatus stat(int fd) throws PosixException {
        return statAt(fd, NO_PATH, AT_EMPTY_PATH);
    }

    private static final byte[] NO_PATH = {};

    /** Fills {@code into} with {@code struct linux_dirent64} records. Returns their bytes; 0 is the end of the directory. */
    static long directoryEntries(int fd, MemorySegment into) throws PosixException {
        long n = GETDENTS.call(fd, into, into.byteSize(), 0);
        if (n < 0) {
            throw new PosixException("read directory", NativeCall.errno());
        }
        return n;
    }

    /** The target of the symbolic link, as bytes. */
    public static byte[] readLinkAt(int directory, byte[] path) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(PATH_MAX);
            long n = READLINKAT.call(directory, cString(path).address(), out.address(), PATH_MAX);
            if (n < 0) {
                throw new PosixException("readlink", NativeCall.errno());
            }
            return out.asSlice(0, n).toArray(JAVA_BYTE);
        }
    }

    /** The C library's message for an errno, such as "No such file or directory". */
    public static String describe(int errno) {
        return MemorySegment.ofAddress(STRERROR.call(errno)).reinterpret(256).getString(0);
    }

    /** {@code path} with its terminating zero, in a buffer that the thread's next call reuses. */
    public static MemorySegment cString(byte[] path) throws PosixException {
        if (path.length >= PATH_MAX) {
            throw new PosixException("path of " + path.length + " bytes", 36 /* ENAMETOOLONG */);
        }
        MemorySegment buffer = PATH.get();
        MemorySegment.copy(path, 0, buffer, JAVA_BYTE, 0, path.length);
        buffer.set(JAVA_BYTE, path.length, (byte) 0);
        return buffer;
    }
}
