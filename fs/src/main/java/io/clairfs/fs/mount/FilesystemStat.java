package io.clairfs.fs.mount;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import ru.serce.jnrfuse.struct.Statvfs;

/** The answer to {@code statfs}: {@code struct statvfs}. */
@SuppressWarnings("restricted")
public final class FilesystemStat {
    private static final Statvfs LAYOUT = Statvfs.of(Native.anyPointer());
    private static final long SIZE = jnr.ffi.Struct.size(LAYOUT);
    private static final long BLOCK_SIZE = 4096;
    private static final long LONGEST_NAME = 255;

    private final MemorySegment stat;

    FilesystemStat(MemorySegment stat) {
        this.stat = stat.reinterpret(SIZE);
    }

    /** A full filesystem, as one that is read only is, that holds this many bytes in this many files. */
    public void set(long bytes, long files) {
        stat.fill((byte) 0);
        stat.set(JAVA_LONG, LAYOUT.f_bsize.offset(), BLOCK_SIZE);
        stat.set(JAVA_LONG, LAYOUT.f_frsize.offset(), BLOCK_SIZE);
        stat.set(JAVA_LONG, LAYOUT.f_blocks.offset(), Math.ceilDiv(bytes, BLOCK_SIZE));
        stat.set(JAVA_LONG, LAYOUT.f_files.offset(), files);
        stat.set(JAVA_LONG, LAYOUT.f_namemax.offset(), LONGEST_NAME);
    }
}
