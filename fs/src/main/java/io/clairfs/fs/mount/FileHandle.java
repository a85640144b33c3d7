package io.clairfs.fs.mount;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/** The open file of a callback: {@code struct fuse_file_info}. Valid during the callback only. */
public final class FileHandle {
    private static final FuseFileInfo LAYOUT = FuseFileInfo.of(Native.anyPointer());
    private static final long FLAGS = LAYOUT.flags.offset();
    private static final long ID = LAYOUT.fh.offset();
    private static final int ACCESS_MODE = 3;

    private final MemorySegment info;

    FileHandle(MemorySegment info) {
        this.info = info;
    }

    /** The number that {@code open} gave this open file. */
    public long id() {
        return info.get(JAVA_LONG, ID);
    }

    /** Gives this open file a number; for {@code open} only. */
    public void id(long id) {
        info.set(JAVA_LONG, ID, id);
    }

    /** Whether it is opened for writing. */
    public boolean writes() {
        return (info.get(JAVA_INT, FLAGS) & ACCESS_MODE) != 0;
    }
}
