package io.clairfs.fs.mount;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/** What the kernel brings of an open file to a callback, without a kernel. */
public final class OpenFile {
    private static final FuseFileInfo LAYOUT = FuseFileInfo.of(Native.anyPointer());

    private static final ru.serce.jnrfuse.struct.FileStat STAT =
            new ru.serce.jnrfuse.struct.FileStat(jnr.ffi.Runtime.getSystemRuntime());

    private OpenFile() {}

    /** A file that is opened with these flags of {@code open(2)}. */
    public static FileHandle with(Arena arena, int flags) {
        MemorySegment info = arena.allocate(jnr.ffi.Struct.size(LAYOUT), Long.BYTES);
        info.set(JAVA_INT, LAYOUT.flags.offset(), flags);
        return new FileHandle(info);
    }

    /** Room for an answer to {@code getattr}. */
    public static FileStat stat(Arena arena) {
        return FileStat.in(arena);
    }

    /** The type and the permission bits of such an answer. */
    public static int mode(FileStat stat) {
        return stat.memory().get(JAVA_INT, STAT.st_mode.offset());
    }
}
