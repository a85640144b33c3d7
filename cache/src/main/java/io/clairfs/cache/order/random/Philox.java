package io.clairfs.cache.order.random;

/**
 * Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011), keyed and counted as TensorFlow does:
 * the first seed is the key, the second the upper half of the counter. Source: tensorflow/core/lib/random/philox_random.h.
 */
public final class Philox {
    private static final int ROUNDS = 10;
    private static final long MULTIPLIER_A = 0xD2511F53L;
    private static final long MULTIPLIER_B = 0xCD9E8D57L;
    private static final int WEYL_A = 0x9E3779B9;
    private static final int WEYL_B = 0xBB67AE85;

    private final long key;
    private final long counterHigh;
    private long block;
    private final int[] words = new int[4];
    private int used = words.length;

    public Philox(long seed, long seed2) {
        key = seed;
        counterHigh = seed2;
    }

    /** The next word; all 32 bits count, so as a number it is unsigned. */
    public int next32() {
        if (used == words.length) {
            generate();
            used = 0;
        }
        return words[used++];
    }

    /** Skips {@code count} words. */
    public void skip(long count) {
        long at = block * 4 - (words.length - used) + count;
        block = at / 4;
        generate();
        used = (int) (at % 4);
    }

    /** A run of one generator makes fewer than 2^64 blocks, so the counter's lower half never carries. */
    private void generate() {
        int c0 = (int) block;
        int c1 = (int) (block >>> 32);
        int c2 = (int) counterHigh;
        int c3 = (int) (counterHigh >>> 32);
        int k0 = (int) key;
        int k1 = (int) (key >>> 32);
        for (int round = 0; round < ROUNDS; round++) {
            long a = MULTIPLIER_A * (c0 & 0xffffffffL);
            long b = MULTIPLIER_B * (c2 & 0xffffffffL);
            c0 = (int) (b >>> 32) ^ c1 ^ k0;
            c1 = (int) b;
            c2 = (int) (a >>> 32) ^ c3 ^ k1;
            c3 = (int) a;
            k0 += WEYL_A;
            k1 += WEYL_B;
        }
        words[0] = c0;
        words[1] = c1;
        words[2] = c2;
        words[3] = c3;
        block++;
    }
}
