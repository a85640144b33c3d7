package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Which pages of an open file the kernel's page cache holds. */
public final class CachedPages {
    private static final int FADV_DONTNEED = 4;
    private static final NativeFunction FADVISE = NativeFunction.of("posix_fadvise");
    /** The same number on x86-64 and ARM64. */
    private static final long SYS_CACHESTAT = 451;

    private static final NativeFunction CACHESTAT = NativeFunction.of("syscall");
    private static final long PAGE_BYTES = Posix.PAGE_BYTES;
    private static final int CACHESTAT_SIZE = 5 * Long.BYTES;
    /** The queried range and the answer, one buffer per thread. */
    private static final ThreadLocal<MemorySegment> CACHED =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(2L * Long.BYTES + CACHESTAT_SIZE, 8));

    private CachedPages() {}

    /** Drops the file's clean pages from the page cache; written data must have been synchronised before. */
    public static void drop(int fd) throws PosixException {
        int error = (int) FADVISE.call(fd, 0, 0, FADV_DONTNEED);
        if (error != 0) {
            throw new PosixException("posix_fadvise", error);
        }
    }

    /**
     * Whether all of this part of a file is in the page cache now, so that a read waits for no disk. False on kernels before 6.5, which do
     * not tell.
     */
    public static boolean isCached(int fd, long offset, long bytes) {
        long pages = (offset + bytes + PAGE_BYTES - 1) / PAGE_BYTES - offset / PAGE_BYTES;
        return cachedPages(fd, offset, bytes) >= pages;
    }

    /** Whether more than half of the file's first {@code bytes} is in the page cache now. False where the kernel does not tell. */
    public static boolean isMostlyCached(int fd, long bytes) {
        return 2 * cachedPages(fd, 0, bytes) > Math.ceilDiv(bytes, PAGE_BYTES);
    }

    /** Whether this kernel tells which pages of this file are cached. */
    public static boolean isTold(int fd) {
        return cachedPages(fd, 0, 1) >= 0;
    }

    /** Whether the page cache is known to hold none of the file's first {@code bytes}. False on kernels before 6.5, which do not tell. */
    public static boolean isGone(int fd, long bytes) {
        return cachedPages(fd, 0, bytes) == 0;
    }

    /**
     * Whether the page cache is known to lack some of the file's first {@code bytes}. False where the kernel does not tell: before 6.5, and
     * later for files of other users.
     */
    public static boolean isMissing(int fd, long bytes) {
        long cached = cachedPages(fd, 0, bytes);
        return cached >= 0 && cached < Math.ceilDiv(bytes, PAGE_BYTES);
    }

    /** How many pages of this part of a file are in the page cache; -1 when the kernel does not tell. */
    private static long cachedPages(int fd, long offset, long bytes) {
        MemorySegment range = CACHED.get();
        range.set(JAVA_LONG, 0, offset);
        range.set(JAVA_LONG, Long.BYTES, bytes);
        MemorySegment answer = range.asSlice(2L * Long.BYTES);
        long failed = CACHESTAT.call(SYS_CACHESTAT, fd, range.address(), answer.address(), 0);
        return failed == 0 ? answer.get(JAVA_LONG, 0) : -1;
    }
}
