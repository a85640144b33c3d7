package io.clairfs.fs.mount;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The answer to {@code getattr}: {@code struct stat}, in the layout that jnr-fuse knows for this platform. */
@SuppressWarnings("restricted")
public final class FileStat {
    private static final ru.serce.jnrfuse.struct.FileStat LAYOUT =
            new ru.serce.jnrfuse.struct.FileStat(jnr.ffi.Runtime.getSystemRuntime());
    private static final long SIZE = jnr.ffi.Struct.size(LAYOUT);
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** Bytes that a reader which follows {@code st_blksize} reads at a time: the largest piece that libfuse 2 requests. */
    private static final int BLOCK_SIZE = 128 * 1024;

    private final MemorySegment stat;

    FileStat(MemorySegment stat) {
        this.stat = stat.reinterpret(SIZE);
    }

    /**
     * Fills the whole answer.
     *
     * @param mode type and permission bits
     * @param size bytes
     * @param mtimeNs nanoseconds since 1970, used for all three times
     */
    public void set(int mode, int uid, int gid, long size, long mtimeNs) {
        stat.fill((byte) 0);
        stat.set(JAVA_INT, LAYOUT.st_mode.offset(), mode);
        stat.set(JAVA_INT, LAYOUT.st_uid.offset(), uid);
        stat.set(JAVA_INT, LAYOUT.st_gid.offset(), gid);
        stat.set(JAVA_LONG, LAYOUT.st_size.offset(), size);
        stat.set(JAVA_INT, LAYOUT.st_blksize.offset(), BLOCK_SIZE);
        stat.set(JAVA_LONG, LAYOUT.st_blocks.offset(), Math.ceilDiv(size, 512));
        stat.set(JAVA_INT, LAYOUT.st_nlink.offset(), 1);
        long seconds = Math.floorDiv(mtimeNs, NANOS_PER_SECOND);
        long nanos = Math.floorMod(mtimeNs, NANOS_PER_SECOND);
        setTime(LAYOUT.st_mtim.tv_sec.offset(), seconds, nanos);
        setTime(LAYOUT.st_atim.tv_sec.offset(), seconds, nanos);
        setTime(LAYOUT.st_ctim.tv_sec.offset(), seconds, nanos);
    }

    /** A new answer, for an entry of a directory. */
    static FileStat in(Arena arena) {
        return new FileStat(arena.allocate(SIZE, Long.BYTES));
    }

    /** The memory of the answer. */
    MemorySegment memory() {
        return stat;
    }

    /** Sets the type alone; 0 if it is not known. */
    void setType(int type) {
        stat.set(JAVA_INT, LAYOUT.st_mode.offset(), type);
    }

    /** Replaces the size and the modification time of a whole answer. */
    public void change(long size, long mtimeNs) {
        set(
                stat.get(JAVA_INT, LAYOUT.st_mode.offset()),
                stat.get(JAVA_INT, LAYOUT.st_uid.offset()),
                stat.get(JAVA_INT, LAYOUT.st_gid.offset()),
                size,
                mtimeNs);
    }

    private void setTime(long offset, long seconds, long nanos) {
        stat.set(JAVA_LONG, offset, seconds);
        stat.set(JAVA_LONG, offset + Long.BYTES, nanos);
    }
}
