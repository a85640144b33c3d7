package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What the kernel's page cache has of an open file. */
public final class CachedPages {
    private static final int FADV_DONTNEED = 4;
    private static final MethodHandle FADVISE =
            NativeCall.bind("posix_fadvise", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    /** The same number on every machine that Linux runs on, as for all calls of its time. */
    private static final long SYS_CACHESTAT = 451;

    private static final MethodHandle CACHESTAT = NativeCall.bind(
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT),
            Linker.Option.firstVariadicArg(1));
    private static final long PAGE_BYTES = 4096;
    private static final int CACHESTAT_SIZE = 5 * Long.BYTES;
    /** The range asked about and what is answered, one for each thread. */
    private static final ThreadLocal<MemorySegment> CACHED =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(2L * Long.BYTES + CACHESTAT_SIZE, 8));

    private CachedPages() {}

    /** Takes the file's clean pages out of the page cache; what was written must have been synchronised before. */
    public static void drop(int fd) throws PosixException {
        int error;
        try {
            error = (int) FADVISE.invokeExact(NativeCall.state(), fd, 0L, 0L, FADV_DONTNEED);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (error != 0) {
            throw new PosixException("posix_fadvise", error);
        }
    }

    /**
     * Whether all of this part of a file is in the page cache now, so that reading it waits for no disk. Kernels before 6.5 do not
     * tell: then the answer is no.
     */
    public static boolean isCached(int fd, long offset, long bytes) {
        long pages = (offset + bytes + PAGE_BYTES - 1) / PAGE_BYTES - offset / PAGE_BYTES;
        return cachedPages(fd, offset, bytes) >= pages;
    }

    /** Whether this kernel tells about this file. */
    public static boolean isTold(int fd) {
        return cachedPages(fd, 0, 1) >= 0;
    }

    /** Whether none of the file's first {@code bytes} is known to be in the page cache. Kernels before 6.5 do not tell. */
    public static boolean isGone(int fd, long bytes) {
        return cachedPages(fd, 0, bytes) == 0;
    }

    /** Whether some of the file's first {@code bytes} are known not to be in the page cache. Kernels before 6.5 do not tell, nor do later ones about files of others. */
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
        long failed;
        try {
            failed = (long) CACHESTAT.invokeExact(NativeCall.state(), SYS_CACHESTAT, fd, range, answer, 0);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        return failed == 0 ? answer.get(JAVA_LONG, 0) : -1;
    }
}
