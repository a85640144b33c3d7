package io.clairfs.cache.order.torch;

/**
 * {@code torch.randperm} and {@code torch.randint} on the CPU: numbers by plain modulo, biased as they are.
 *
 * <p>Sources: ATen/native/TensorFactories.cpp ({@code randperm_cpu}), ATen/core/DistributionsHelper.h.
 */
public final class TorchRandperm {
    /** From this size on torch 2.6 and newer use another algorithm. */
    public static final int LARGE = (int) (0xffffffffL / 20);

    /** From this bound on torch 2.7 and newer draw 64 bits for one integer. */
    private static final int WIDE = 1 << 28;

    private TorchRandperm() {}

    private static boolean isLarge(int n, TorchVersion torch) {
        return n >= LARGE && torch.atLeast(2, 6);
    }

    /** How many words {@link #permutation} draws. */
    static long words(int n, TorchVersion torch) {
        return isLarge(n, torch) ? 2L * n : Math.max(0, n - 1L);
    }

    /** {@code torch.randperm(n, generator=g)}. */
    public static int[] permutation(int n, TorchGenerator g, TorchVersion torch) {
        int[] r = new int[n];
        if (isLarge(n, torch)) {
            fillLarge(r, g);
        } else {
            fill(r, g);
        }
        return r;
    }

    private static void fill(int[] r, TorchGenerator g) {
        int n = r.length;
        for (int i = 0; i < n; i++) {
            r[i] = i;
        }
        for (int i = 0; i < n - 1; i++) {
            int j = i + Integer.remainderUnsigned(g.random(), n - i);
            int swap = r[i];
            r[i] = r[j];
            r[j] = swap;
        }
    }

    /** Fills {@code r} from the front, with one 64-bit draw for each place. */
    public static void fillLarge(int[] r, TorchGenerator g) {
        for (int i = 0; i < r.length; i++) {
            int z = (int) Long.remainderUnsigned(g.random64(), i + 1L);
            r[i] = i;
            r[i] = r[z];
            r[z] = i;
        }
    }

    /** {@code torch.randint(n, (count,), generator=g)} for n below 2^32; the stream does not depend on the chunks in which it is drawn. */
    public static int[] integers(long n, int count, TorchGenerator g, TorchVersion torch) {
        boolean wide = isWide(n, torch);
        int[] drawn = new int[count];
        for (int i = 0; i < count; i++) {
            drawn[i] = (int) (wide ? Long.remainderUnsigned(g.random64(), n) : (g.random() & 0xffffffffL) % n);
        }
        return drawn;
    }

    /** How many words {@link #integers} draws. */
    static long wordsOfIntegers(long n, int count, TorchVersion torch) {
        return isWide(n, torch) ? 2L * count : count;
    }

    private static boolean isWide(long n, TorchVersion torch) {
        return n >= WIDE && torch.atLeast(2, 7);
    }
}
