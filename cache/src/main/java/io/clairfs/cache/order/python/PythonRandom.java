package io.clairfs.cache.order.python;

import io.clairfs.cache.order.random.Mt19937;
import io.clairfs.cache.order.random.SeedSequence;
import java.math.BigInteger;
import java.util.HashSet;
import java.util.Set;

/**
 * CPython's {@code random.Random} since 3.2: integers from the top bits of MT19937's words. Sources: Lib/random.py,
 * Modules/_randommodule.c.
 */
public final class PythonRandom implements Shuffler {
    private final Mt19937 words;

    /** Seeded with a number as {@code random.seed(int)} is: by the words of its absolute value. */
    public PythonRandom(BigInteger seed) {
        this(Mt19937.byArray(SeedSequence.words(seed.abs())));
    }

    private PythonRandom(Mt19937 words) {
        this.words = words;
    }

    @Override
    public PythonRandom copy() {
        return new PythonRandom(words.copy());
    }

    /** {@code getrandbits(bits)}, at least 1: whole words from the least significant up, the rest from a word's top bits. */
    public BigInteger bits(int bits) {
        BigInteger value = BigInteger.ZERO;
        for (int from = 0; from < bits; from += 32) {
            int take = Math.min(32, bits - from);
            long word = (words.next32() & 0xffffffffL) >>> (32 - take);
            value = value.or(BigInteger.valueOf(word).shiftLeft(from));
        }
        return value;
    }

    /** {@code _randbelow(n)} for n of at least 1; draws even for 1. */
    private int below(int n) {
        int shift = Integer.numberOfLeadingZeros(n);
        int value = words.next32() >>> shift;
        while (value >= n) {
            value = words.next32() >>> shift;
        }
        return value;
    }

    @Override
    public void shuffle(int[] items) {
        for (int i = items.length - 1; i > 0; i--) {
            int j = below(i + 1);
            int swap = items[i];
            items[i] = items[j];
            items[j] = swap;
        }
    }

    @Override
    public void pass(int count) {
        for (int i = count - 1; i > 0; i--) {
            below(i + 1);
        }
    }

    /** {@code sample(range(n), k)}, k at most n: from a pool or, for few of many, by drawing repeats again. */
    public int[] sample(int n, int k) {
        int[] picked = new int[k];
        if (n <= largestPool(k)) {
            int[] pool = new int[n];
            for (int i = 0; i < n; i++) {
                pool[i] = i;
            }
            for (int i = 0; i < k; i++) {
                int j = below(n - i);
                picked[i] = pool[j];
                pool[j] = pool[n - i - 1];
            }
        } else {
            Set<Integer> seen = new HashSet<>();
            for (int i = 0; i < k; i++) {
                int j = below(n);
                while (!seen.add(j)) {
                    j = below(n);
                }
                picked[i] = j;
            }
        }
        return picked;
    }

    private static long largestPool(int k) {
        if (k <= 5) {
            return 21;
        }
        long power = 1;
        while (power < 3L * k) {
            power *= 4;
        }
        return 21 + power;
    }
}
