package io.clairfs.cache.order.random;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;

/**
 * numpy's {@code SeedSequence}: spreads seeds of any size over a pool of four words, after M. E. O'Neill's seed_seq_fe.
 * Source: numpy/random/bit_generator.pyx.
 */
public final class SeedSequence {
    private static final int POOL = 4;
    private static final int INIT_A = 0x43b0d7e5;
    private static final int MULT_A = 0x931e8875;
    private static final int INIT_B = 0x8b51f9dd;
    private static final int MULT_B = 0x58f38ded;
    private static final int MIX_LEFT = 0xca01f9dd;
    private static final int MIX_RIGHT = 0x4973f715;

    private final int[] entropy;
    private final int[] pool = new int[POOL];
    private int hashConstant = INIT_A;

    /** The sequence of one seed or, as numpy takes a list, of several; none may be negative. */
    public SeedSequence(List<BigInteger> seeds) {
        this(seeds.stream()
                .map(SeedSequence::words)
                .flatMapToInt(Arrays::stream)
                .toArray());
    }

    private SeedSequence(int[] entropy) {
        this.entropy = entropy;
        mixEntropy();
    }

    /** The {@code k}-th child that {@code spawn} makes of a sequence that has none yet. */
    public SeedSequence child(int k) {
        int[] longer = Arrays.copyOf(entropy, Math.max(POOL, entropy.length) + 1);
        longer[longer.length - 1] = k;
        return new SeedSequence(longer);
    }

    /** The 32-bit words of a number that is not negative, least significant first; zero has one word. */
    public static int[] words(BigInteger value) {
        int[] words = new int[Math.max(1, Math.ceilDiv(value.bitLength(), 32))];
        for (int i = 0; i < words.length; i++) {
            words[i] = value.shiftRight(32 * i).intValue();
        }
        return words;
    }

    private void mixEntropy() {
        for (int i = 0; i < POOL; i++) {
            pool[i] = hash(i < entropy.length ? entropy[i] : 0);
        }
        for (int from = 0; from < POOL; from++) {
            for (int to = 0; to < POOL; to++) {
                if (from != to) {
                    pool[to] = mix(pool[to], hash(pool[from]));
                }
            }
        }
        for (int from = POOL; from < entropy.length; from++) {
            for (int to = 0; to < POOL; to++) {
                pool[to] = mix(pool[to], hash(entropy[from]));
            }
        }
    }

    private int hash(int value) {
        int v = value ^ hashConstant;
        hashConstant *= MULT_A;
        v *= hashConstant;
        return v ^ (v >>> 16);
    }

    private static int mix(int x, int y) {
        int r = MIX_LEFT * x - MIX_RIGHT * y;
        return r ^ (r >>> 16);
    }

    /** The pool's four words. */
    public int[] pool() {
        return pool.clone();
    }

    /** {@code generate_state(count)}, 32-bit words. */
    public int[] words(int count) {
        int[] words = new int[count];
        int constant = INIT_B;
        for (int i = 0; i < count; i++) {
            int w = pool[i % POOL] ^ constant;
            constant *= MULT_B;
            w *= constant;
            words[i] = w ^ (w >>> 16);
        }
        return words;
    }

    /** {@code generate_state(count, uint64)}. */
    public long[] longs(int count) {
        int[] words = words(2 * count);
        long[] longs = new long[count];
        for (int i = 0; i < count; i++) {
            longs[i] = (words[2 * i] & 0xffffffffL) | (long) words[2 * i + 1] << 32;
        }
        return longs;
    }
}
