package io.clairfs.cache.order.random;

import java.util.Arrays;

/** {@code std::seed_seq} of one seed. Source: ISO C++ [rand.util.seedseq]. */
public final class StdSeedSeq {
    private StdSeedSeq() {}

    /** {@code std::seed_seq{seed}.generate} into {@code n} words, 2 at least. */
    public static int[] generate(int seed, int n) {
        int[] out = new int[n];
        Arrays.fill(out, 0x8b8b8b8b);
        int t = n >= 623 ? 11 : n >= 68 ? 7 : n >= 39 ? 5 : n >= 7 ? 3 : (n - 1) / 2;
        int p = (n - t) / 2;
        int q = p + t;
        int m = Math.max(2, n);
        for (int k = 0; k < m; k++) {
            int r1 = 1664525 * folded(out[k % n] ^ out[(k + p) % n] ^ out[(k + n - 1) % n]);
            int r2 = r1 + (k == 0 ? 1 : k == 1 ? k % n + seed : k % n);
            out[(k + p) % n] += r1;
            out[(k + q) % n] += r2;
            out[k % n] = r2;
        }
        for (int k = m; k < m + n; k++) {
            int r3 = 1566083941 * folded(out[k % n] + out[(k + p) % n] + out[(k + n - 1) % n]);
            int r4 = r3 - k % n;
            out[(k + p) % n] ^= r3;
            out[(k + q) % n] ^= r4;
            out[k % n] = r4;
        }
        return out;
    }

    private static int folded(int x) {
        return x ^ (x >>> 27);
    }
}
