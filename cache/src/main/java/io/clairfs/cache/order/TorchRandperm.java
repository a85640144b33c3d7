package io.clairfs.cache.order;

import java.math.BigInteger;

/**
 * {@code torch.randperm} on the CPU (ATen {@code randperm_cpu}): a Fisher-Yates shuffle by plain modulo.
 *
 * <p>{@code manual_seed} keeps the low 32 bits of the seed alone.
 */
final class TorchRandperm {
    /** From here on torch 2.6 and newer use another algorithm. */
    static final int LARGE = (int) (0xffffffffL / 20);

    private TorchRandperm() {}

    /** A generator after {@code manual_seed(seed)}. */
    static Mt19937 generator(BigInteger seed) {
        return new Mt19937(seed.intValue());
    }

    /** {@code torch.randperm(n, generator=g)}; draws n - 1 words, none for n of 0 or 1. */
    static int[] permutation(int n, Mt19937 g) {
        return n >= LARGE ? largePermutation(n, g) : smallPermutation(n, g);
    }

    private static int[] smallPermutation(int n, Mt19937 g) {
        int[] r = new int[n];
        for (int i = 0; i < n; i++) {
            r[i] = i;
        }
        for (int i = 0; i < n - 1; i++) {
            int j = i + Integer.remainderUnsigned(g.next32(), n - i);
            int swap = r[i];
            r[i] = r[j];
            r[j] = swap;
        }
        return r;
    }

    /** torch 2.6 and newer: 64-bit draws, high word first, from the front. */
    private static int[] largePermutation(int n, Mt19937 g) {
        int[] r = new int[n];
        for (int i = 0; i < n; i++) {
            long draw = ((long) g.next32() << 32) | (g.next32() & 0xffffffffL);
            int z = (int) Long.remainderUnsigned(draw, i + 1L);
            r[i] = i;
            r[i] = r[z];
            r[z] = i;
        }
        return r;
    }
}
