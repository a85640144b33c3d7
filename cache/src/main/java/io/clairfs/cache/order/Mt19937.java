package io.clairfs.cache.order;

/**
 * The Mersenne Twister MT19937, 32-bit outputs (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998).
 *
 * <p>The engine of torch's CPU generator, numpy's RandomState, CPython's random and std::mt19937; they differ in how they seed
 * it and in how they turn its words into numbers.
 */
final class Mt19937 {
    private static final int WORDS = 624;
    private static final int SHIFT = 397;
    private static final int MATRIX = 0x9908b0df;

    private final int[] state = new int[WORDS];
    private int position = WORDS;

    /** Seeds with one 32-bit word: {@code init_genrand} of the reference code. */
    Mt19937(int seed) {
        state[0] = seed;
        for (int i = 1; i < WORDS; i++) {
            int previous = state[i - 1];
            state[i] = 1812433253 * (previous ^ (previous >>> 30)) + i;
        }
    }

    /** The next output; all 32 bits count, so as a number it is unsigned. */
    int next32() {
        if (position == WORDS) {
            refill();
        }
        int y = state[position++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9d2c5680;
        y ^= (y << 15) & 0xefc60000;
        return y ^ (y >>> 18);
    }

    private void refill() {
        int i = 0;
        for (; i < WORDS - SHIFT; i++) {
            state[i] = state[i + SHIFT] ^ twist(state[i], state[i + 1]);
        }
        for (; i < WORDS - 1; i++) {
            state[i] = state[i + SHIFT - WORDS] ^ twist(state[i], state[i + 1]);
        }
        state[WORDS - 1] = state[SHIFT - 1] ^ twist(state[WORDS - 1], state[0]);
        position = 0;
    }

    private static int twist(int high, int low) {
        int y = (high & 0x80000000) | (low & 0x7fffffff);
        return (y >>> 1) ^ (-(low & 1) & MATRIX);
    }
}
