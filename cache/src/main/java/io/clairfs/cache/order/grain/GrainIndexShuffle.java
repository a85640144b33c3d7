package io.clairfs.cache.order.grain;

import io.clairfs.cache.order.random.StdSeedSeq;

/**
 * Grain's {@code index_shuffle}: a Simon-like Feistel cipher that walks its cycle until it lands in the range.
 *
 * <p>The block is sized from the largest index, not from the count, so for a largest index of 2^k with k even and at least 16
 * it is one value too small and the result is no permutation. Intentional here: that is the order that Grain reads in.
 * Source: grain/_src/python/experimental/index_shuffle/index_shuffle.cc.
 */
public final class GrainIndexShuffle {
    private static final int ROUNDS = 4;

    private final long most;
    private final int half;
    private final long mask;
    private final long[] keys = new long[ROUNDS];

    /**
     * @param most the largest index
     * @param seed all 32 bits count
     */
    public GrainIndexShuffle(long most, int seed) {
        this.most = most;
        int bits = most <= 1 ? 0 : 64 - Long.numberOfLeadingZeros(most - 1);
        half = Math.max(bits + bits % 2, 16) / 2;
        mask = (1L << half) - 1;
        int[] words = StdSeedSeq.generate(seed, ROUNDS);
        for (int i = 0; i < ROUNDS; i++) {
            keys[i] = words[i] & 0xffffffffL & mask;
        }
    }

    /** The index at place {@code index} of the shuffled order. */
    public long at(long index) {
        if (most == 0) {
            return 0;
        }
        long x = encrypt(index);
        while (Long.compareUnsigned(x, most) > 0) {
            x = encrypt(x);
        }
        return x;
    }

    private long encrypt(long x) {
        long left = x >>> half & mask;
        long right = x & mask;
        for (int r = 0; r < ROUNDS; r += 2) {
            left ^= round(right) ^ keys[r];
            right ^= round(left) ^ keys[r + 1];
        }
        return left << half | right;
    }

    private long round(long v) {
        return (rotate(v, 1) & rotate(v, 8)) ^ rotate(v, 2);
    }

    private long rotate(long v, int by) {
        return (v << by | v >>> (half - by)) & mask;
    }
}
