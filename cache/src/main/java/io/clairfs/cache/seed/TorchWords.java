package io.clairfs.cache.seed;

import io.clairfs.cache.order.random.Mt19937;

/**
 * The first words of torch's generator for several seeds.
 *
 * <p>Seeding is one chain of dependent multiplications, so {@value #LANES} chains side by side take little longer than one. Of the first
 * state only the words that are asked for are made. The generator itself is {@link Mt19937}.
 */
final class TorchWords {
    /** Seeds at a time. */
    static final int LANES = 4;

    private static final int WORDS = Mt19937.WORDS;
    private static final int SHIFT = 397;
    private static final int MATRIX = 0x9908b0df;
    private static final int MULTIPLIER = 1812433253;

    private final int[][] seeded = new int[LANES][WORDS];
    private final int[] even = new int[WORDS];
    private final int[] odd = new int[WORDS];

    /** Takes the low 32 bits of {@value #LANES} seeds, as torch does. */
    void seed(long[] seeds) {
        int[] s0 = seeded[0];
        int[] s1 = seeded[1];
        int[] s2 = seeded[2];
        int[] s3 = seeded[3];
        int a = (int) seeds[0];
        int b = (int) seeds[1];
        int c = (int) seeds[2];
        int d = (int) seeds[3];
        s0[0] = a;
        s1[0] = b;
        s2[0] = c;
        s3[0] = d;
        for (int i = 1; i < WORDS; i++) {
            a = MULTIPLIER * (a ^ (a >>> 30)) + i;
            b = MULTIPLIER * (b ^ (b >>> 30)) + i;
            c = MULTIPLIER * (c ^ (c >>> 30)) + i;
            d = MULTIPLIER * (d ^ (d >>> 30)) + i;
            s0[i] = a;
            s1[i] = b;
            s2[i] = c;
            s3[i] = d;
        }
    }

    /** Writes the first {@code count} words of the seed in {@code lane} to {@code words}. */
    void draw(int lane, int[] words, int count) {
        int[] from = seeded[lane];
        for (int at = 0; at < count; at += WORDS) {
            int[] to = at / WORDS % 2 == 0 ? even : odd;
            int made = Math.min(WORDS, count - at);
            twist(from, to, made);
            temper(to, words, at, made);
            from = to;
        }
    }

    private static void twist(int[] from, int[] to, int count) {
        int first = Math.min(count, WORDS - SHIFT);
        for (int i = 0; i < first; i++) {
            to[i] = from[i + SHIFT] ^ mixed(from[i], from[i + 1]);
        }
        int second = Math.min(count, WORDS - 1);
        for (int i = WORDS - SHIFT; i < second; i++) {
            to[i] = to[i + SHIFT - WORDS] ^ mixed(from[i], from[i + 1]);
        }
        if (count == WORDS) {
            to[WORDS - 1] = to[SHIFT - 1] ^ mixed(from[WORDS - 1], to[0]);
        }
    }

    private static void temper(int[] state, int[] words, int at, int count) {
        for (int i = 0; i < count; i++) {
            int y = state[i];
            y ^= y >>> 11;
            y ^= (y << 7) & 0x9d2c5680;
            y ^= (y << 15) & 0xefc60000;
            words[at + i] = y ^ (y >>> 18);
        }
    }

    private static int mixed(int high, int low) {
        int y = (high & 0x80000000) | (low & 0x7fffffff);
        return (y >>> 1) ^ (-(low & 1) & MATRIX);
    }
}
