package io.clairfs.cache.order.python;

import io.clairfs.cache.order.random.Pcg64;
import io.clairfs.cache.order.random.Words;

/**
 * numpy's bounded integers and its shuffle.
 *
 * <p>{@code shuffle} and {@code permutation} reject masked words ({@code random_interval}) in RandomState and Generator alike;
 * {@code Generator.integers} multiplies and rejects (D. Lemire, ACM TOMACS 29(1), 2019). Sources: numpy/random/mtrand.pyx,
 * _generator.pyx, src/distributions/distributions.c.
 */
public final class NumpyShuffle implements Shuffler {
    private final Words words;

    public NumpyShuffle(Words words) {
        this.words = words;
    }

    @Override
    public void shuffle(int[] items) {
        shuffle(items, 0, items.length);
    }

    /** Shuffles {@code length} items, from place {@code from} on, as an array of their own. */
    public void shuffle(int[] items, int from, int length) {
        for (int i = length - 1; i > 0; i--) {
            int j = interval(i);
            int swap = items[from + i];
            items[from + i] = items[from + j];
            items[from + j] = swap;
        }
    }

    @Override
    public void pass(int count) {
        for (int i = count - 1; i > 0; i--) {
            interval(i);
        }
    }

    @Override
    public NumpyShuffle copy() {
        return new NumpyShuffle(words.copy());
    }

    /** A number from 0 to {@code most}, which is at least 1. */
    private int interval(int most) {
        int mask = -1 >>> Integer.numberOfLeadingZeros(most);
        int value = words.next32() & mask;
        while (value > most) {
            value = words.next32() & mask;
        }
        return value;
    }

    /** {@code Generator.integers(low, high)}, the upper bound exclusive. */
    public static long integer(Pcg64 g, long low, long high) {
        long range = high - low - 1;
        if (range == 0) {
            return low;
        } else if (Long.compareUnsigned(range, 0xffffffffL) < 0) {
            return low + lemire32(g, range);
        } else if (range == 0xffffffffL) {
            return low + (g.next32() & 0xffffffffL);
        } else if (range == -1) {
            return low + g.next64();
        }
        return low + lemire64(g, range);
    }

    private static long lemire32(Pcg64 g, long range) {
        long exclusive = range + 1;
        long product = (g.next32() & 0xffffffffL) * exclusive;
        if ((product & 0xffffffffL) < exclusive) {
            long threshold = (0xffffffffL - range) % exclusive;
            while ((product & 0xffffffffL) < threshold) {
                product = (g.next32() & 0xffffffffL) * exclusive;
            }
        }
        return product >>> 32;
    }

    private static long lemire64(Pcg64 g, long range) {
        long exclusive = range + 1;
        long draw = g.next64();
        if (Long.compareUnsigned(draw * exclusive, exclusive) < 0) {
            long threshold = Long.remainderUnsigned(-1L - range, exclusive);
            while (Long.compareUnsigned(draw * exclusive, threshold) < 0) {
                draw = g.next64();
            }
        }
        return Math.unsignedMultiplyHigh(draw, exclusive);
    }
}
