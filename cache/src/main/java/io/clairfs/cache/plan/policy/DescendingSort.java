package io.clairfs.cache.plan.policy;

/** Sorts samples by a float each, greatest first; equal ones keep their order. A radix sort: linear, no objects. */
final class DescendingSort {
    private static final int DIGIT_BITS = 11;
    private static final int DIGITS = 1 << DIGIT_BITS;

    private DescendingSort() {}

    /**
     * Sorts the first {@code count} of {@code samples}.
     *
     * @param keys by sample, none negative
     * @param scratch at least {@code count} long
     */
    static void sort(int[] samples, int count, float[] keys, int[] scratch) {
        int[] from = samples;
        int[] to = scratch;
        boolean inScratch = false;
        for (int shift = 0; shift < Float.SIZE; shift += DIGIT_BITS) {
            int[] places = new int[DIGITS + 1];
            for (int i = 0; i < count; i++) {
                places[digit(keys[from[i]], shift) + 1]++;
            }
            if (isOneDigit(places, count)) {
                continue;
            }
            for (int digit = 1; digit < DIGITS; digit++) {
                places[digit] += places[digit - 1];
            }
            for (int i = 0; i < count; i++) {
                int sample = from[i];
                to[places[digit(keys[sample], shift)]++] = sample;
            }
            int[] swap = from;
            from = to;
            to = swap;
            inScratch = !inScratch;
        }
        if (inScratch) {
            System.arraycopy(scratch, 0, samples, 0, count);
        }
    }

    /** Floats that are not negative are in the order of their bits. */
    private static int digit(float key, int shift) {
        return ((~Float.floatToRawIntBits(key) & Integer.MAX_VALUE) >>> shift) & (DIGITS - 1);
    }

    private static boolean isOneDigit(int[] places, int count) {
        for (int number : places) {
            if (number == count) {
                return true;
            }
        }
        return false;
    }
}
