package io.clairfs.cache.order.dali;

import io.clairfs.cache.order.random.Mt19937;

/**
 * libstdc++'s {@code std::shuffle} with a 32-bit engine, and its {@code uniform_int_distribution} of GCC 11 and newer
 * (D. Lemire, ACM TOMACS 29(1), 2019). Sources: bits/stl_algo.h, bits/uniform_int_dist.h.
 */
final class StdShuffle {
    private static final long MOST = 0xffffffffL;

    private StdShuffle() {}

    /** Shuffles in place. With few enough items one draw gives two positions. */
    static void shuffle(int[] items, Mt19937 g) {
        int n = items.length;
        if (n < 2) {
            return;
        }
        if (MOST / n < n) {
            for (int i = 1; i < n; i++) {
                swap(items, i, below(i + 1L, g));
            }
            return;
        }
        int i = 1;
        if (n % 2 == 0) {
            swap(items, 1, below(2, g));
            i = 2;
        }
        for (; i < n; i += 2) {
            long range = i + 1L;
            long both = below(range * (range + 1), g);
            swap(items, i, both / (range + 1));
            swap(items, i + 1, both % (range + 1));
        }
    }

    private static void swap(int[] items, int i, long j) {
        int held = items[i];
        items[i] = items[(int) j];
        items[(int) j] = held;
    }

    private static long below(long range, Mt19937 g) {
        long product = (g.next32() & MOST) * range;
        if ((product & MOST) < range) {
            long threshold = (MOST + 1 - range) % range;
            while ((product & MOST) < threshold) {
                product = (g.next32() & MOST) * range;
            }
        }
        return product >>> 32;
    }
}
