package io.clairfs.cache.order.random;

/**
 * The Mersenne Twister MT19937, 32-bit outputs (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998).
 *
 * <p>The engine of torch's CPU generator, numpy's RandomState, CPython's random and std::mt19937; they differ in how they seed
 * it and in how they turn its words into numbers.
 */
public final class Mt19937 implements Words {
    public static final int WORDS = 624;
    private static final int SHIFT = 397;
    private static final int MATRIX = 0x9908b0df;

    private final int[] state;
    private int position;

    /** Seeds with one 32-bit word: {@code init_genrand} of the reference code. */
    public Mt19937(int seed) {
        state = new int[WORDS];
        state[0] = seed;
        for (int i = 1; i < WORDS; i++) {
            state[i] = 1812433253 * scrambled(i - 1) + i;
        }
        position = WORDS;
    }

    /**
     * Continues from a state.
     *
     * @param position how many words of {@code state} have been drawn, 0 to {@link #WORDS}
     */
    public Mt19937(int[] state, int position) {
        if (state.length != WORDS || position < 0 || position > WORDS) {
            throw new IllegalArgumentException("no state of MT19937");
        }
        this.state = state.clone();
        this.position = position;
    }

    /** Seeds with any number of words: {@code init_by_array} of the reference code. */
    public static Mt19937 byArray(int[] key) {
        Mt19937 g = new Mt19937(19650218);
        int[] s = g.state;
        int i = 1;
        int j = 0;
        for (int k = Math.max(WORDS, key.length); k > 0; k--) {
            s[i] = (s[i] ^ (g.scrambled(i - 1) * 1664525)) + key[j] + j;
            i = g.advance(i);
            j = j + 1 == key.length ? 0 : j + 1;
        }
        for (int k = WORDS - 1; k > 0; k--) {
            s[i] = (s[i] ^ (g.scrambled(i - 1) * 1566083941)) - i;
            i = g.advance(i);
        }
        s[0] = 0x80000000;
        return g;
    }

    private int scrambled(int i) {
        return state[i] ^ (state[i] >>> 30);
    }

    private int advance(int i) {
        if (i + 1 < WORDS) {
            return i + 1;
        }
        state[0] = state[WORDS - 1];
        return 1;
    }

    @Override
    public Mt19937 copy() {
        return new Mt19937(state, position);
    }

    @Override
    public int next32() {
        if (position == WORDS) {
            refill();
        }
        int y = state[position++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9d2c5680;
        y ^= (y << 15) & 0xefc60000;
        return y ^ (y >>> 18);
    }

    /** The next two words, the first of them high. */
    public long next64() {
        long high = next32();
        return high << 32 | (next32() & 0xffffffffL);
    }

    /** Skips {@code words} words. */
    public void skip(long words) {
        for (long left = words; left > 0; ) {
            if (position == WORDS) {
                refill();
            }
            int step = (int) Math.min(left, WORDS - position);
            position += step;
            left -= step;
        }
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
