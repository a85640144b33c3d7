package io.clairfs.fs.faulty;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;

/**
 * What is, or was once, in a file: that of the directory behind the source, or bytes that follow from a seed.
 *
 * @param size bytes
 * @param mtimeNs nanoseconds since 1970; no two contents of a file have the same
 * @param seed of the bytes; none for the directory's
 */
public record FileContent(long size, long mtimeNs, OptionalLong seed) {
    private static final long STEP = 0x9e3779b97f4a7c15L;

    /** Fills {@code into} with what stands at {@code offset} of the bytes of this seed. */
    static void fill(long seed, long offset, MemorySegment into) {
        for (long i = 0; i < into.byteSize(); i++) {
            into.set(JAVA_BYTE, i, at(seed, offset + i));
        }
    }

    private static byte at(long seed, long offset) {
        long z = seed + STEP * ((offset >>> 3) + 1);
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return (byte) ((z ^ (z >>> 31)) >>> (8 * (int) (offset & 7)));
    }
}
