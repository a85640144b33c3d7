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

    /**
     * Fills {@code into} with what stands at {@code offset} of the bytes of this seed. The bytes 8k to 8k+7 are a word, the lowest first, that follows
     * from the seed and k alone, so that a reader need not look anything up to compare.
     */
    public static void fill(long seed, long offset, MemorySegment into) {
        long word = 0;
        for (long i = 0; i < into.byteSize(); i++) {
            long at = offset + i;
            if (i == 0 || (at & 7) == 0) {
                word = word(seed, at >>> 3);
            }
            into.set(JAVA_BYTE, i, (byte) (word >>> (8 * (int) (at & 7))));
        }
    }

    private static long word(long seed, long number) {
        long z = seed + STEP * (number + 1);
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /** The number of the word that these eight bytes, the lowest first, are in the bytes of this seed: the inverse of what {@link #fill} does. */
    public static long wordNumber(long seed, long word) {
        long z = word ^ (word >>> 31) ^ (word >>> 62);
        z *= inverse(0x94d049bb133111ebL);
        z = z ^ (z >>> 27) ^ (z >>> 54);
        z *= inverse(0xbf58476d1ce4e5b9L);
        z = z ^ (z >>> 30) ^ (z >>> 60);
        return (z - seed) * inverse(STEP) - 1;
    }

    /** Of an odd number, modulo 2^64, by Newton's method. */
    private static long inverse(long odd) {
        long x = odd;
        for (int i = 0; i < 5; i++) {
            x *= 2 - odd * x;
        }
        return x;
    }
}
