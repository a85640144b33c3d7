package io.clairfs.cache.seed;

/**
 * The first elements of a Fisher-Yates shuffle that goes forward: element i is drawn from those that are left, so the first K need K
 * draws and no more.
 *
 * <p>Only the places that the draws touch are kept, a bit for each of the others: a shuffle costs no pass over the dataset, and taking it
 * back costs as much as its draws. Remainders are computed by a multiplication with the reciprocal, corrected by one.
 */
final class ForwardShuffle {
    private final int samples;
    private final int[] head;
    private final int[] places;
    private final int[] values;
    private final double[] reciprocals;
    private final long[] touched;

    /**
     * @param samples how many elements are shuffled
     * @param most the most elements that are asked for
     */
    ForwardShuffle(int samples, int most) {
        this.samples = samples;
        int kept = Math.min(samples, most);
        head = new int[kept];
        places = new int[kept];
        values = new int[kept];
        reciprocals = new double[kept];
        for (int i = 0; i < kept; i++) {
            reciprocals[i] = 1.0 / (samples - i);
        }
        touched = new long[(samples >>> 6) + 1];
    }

    /** Writes the first {@code count} elements to {@code order}; draw i is the remainder of {@code words[from + i]}. */
    void first(int[] words, int from, int[] order, int count) {
        for (int i = 0; i < count; i++) {
            head[i] = i;
        }
        for (int i = 0; i < count; i++) {
            int j = i + remainder(words[from + i], samples - i, reciprocals[i]);
            int here = head[i];
            if (j < count) {
                order[i] = head[j];
                head[j] = here;
                places[i] = -1;
                continue;
            }
            long bit = 1L << j;
            if ((touched[j >>> 6] & bit) == 0) {
                touched[j >>> 6] |= bit;
                order[i] = j;
            } else {
                order[i] = latest(j, i);
            }
            places[i] = j;
            values[i] = here;
        }
        for (int i = 0; i < count; i++) {
            if (places[i] >= 0) {
                touched[places[i] >>> 6] = 0;
            }
        }
    }

    private int latest(int place, int before) {
        int i = before - 1;
        while (places[i] != place) {
            i--;
        }
        return values[i];
    }

    private static int remainder(int word, int bound, double reciprocal) {
        long dividend = word & 0xffffffffL;
        long quotient = (long) (dividend * reciprocal);
        long rest = dividend - quotient * bound;
        return (int) (rest < 0 ? rest + bound : rest >= bound ? rest - bound : rest);
    }
}
