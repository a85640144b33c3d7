package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The names in one directory, as bytes and in the filesystem's order, without "." and "..". Opens no file. */
public final class DirectoryReader {
    private static final int BUFFER_BYTES = 256 * 1024;
    private static final int RECORD_LENGTH_AT = 16;
    private static final int NAME_AT = 19;

    private DirectoryReader() {}

    /** Reads the whole directory of the descriptor {@code fd}. */
    public static List<byte[]> names(int fd) throws PosixException {
        List<byte[]> names = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(BUFFER_BYTES, 8);
            long filled;
            while ((filled = Posix.directoryEntries(fd, buffer)) > 0) {
                for (long at = 0; at < filled; ) {
                    int length = Short.toUnsignedInt(buffer.get(JAVA_SHORT_UNALIGNED, at + RECORD_LENGTH_AT));
                    byte[] name = name(buffer, at + NAME_AT);
                    if (!isDots(name)) {
                        names.add(name);
                    }
                    at += length;
                }
            }
        }
        return names;
    }

    private static byte[] name(MemorySegment buffer, long start) {
        long end = start;
        while (buffer.get(JAVA_BYTE, end) != 0) {
            end++;
        }
        return buffer.asSlice(start, end - start).toArray(JAVA_BYTE);
    }

    private static boolean isDots(byte[] name) {
        return name.length <= 2 && name[0] == '.' && (name.length == 1 || name[1] == '.');
    }
}
