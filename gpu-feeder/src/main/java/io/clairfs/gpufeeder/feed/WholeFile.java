package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Reads a file to its end. Control files report no size. */
final class WholeFile {
    private static final long FIRST_BYTES = 1 << 16;

    private WholeFile() {}

    /** The content, in memory of {@code arena}. */
    static MemorySegment read(Path file, Arena arena) throws PosixException {
        int fd = Posix.openAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), Posix.O_RDONLY);
        try {
            MemorySegment content = arena.allocate(FIRST_BYTES, 8);
            long length = 0;
            while (true) {
                long read = Posix.pread(fd, content.asSlice(length), length);
                if (read == 0) {
                    return content.asSlice(0, length);
                }
                length += read;
                if (length == content.byteSize()) {
                    MemorySegment larger = arena.allocate(2 * length, 8);
                    MemorySegment.copy(content, 0, larger, 0, length);
                    content = larger;
                }
            }
        } finally {
            Posix.close(fd);
        }
    }
}
