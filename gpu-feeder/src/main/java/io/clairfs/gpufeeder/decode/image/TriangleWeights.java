package io.clairfs.gpufeeder.decode.image;

/**
 * How much each pixel of one axis counts for each pixel of the resized axis: a triangle as wide as the reduction asks for, cut off at the ends.
 *
 * <p>The same arithmetic as Pillow's bilinear filter of 8-bit channels (its documentation: "Filters", its source: Resample.c): weights in double precision,
 * made to sum to one, then rounded to 22 bits after the point. Weights of zero at either end are left out, which changes nothing.
 */
final class TriangleWeights {
    /** Bits after the point. A sum over 8-bit values then fits 32 bits with its sign and a bit to spare. */
    static final int PRECISION_BITS = 32 - 8 - 2;

    /** What makes the final shift round. */
    static final int HALF = 1 << (PRECISION_BITS - 1);

    private final int[] first;
    private final int[] count;
    private final int[] weights;
    private final int stride;
    private int mostInputs;

    private TriangleWeights(int outputs, int stride) {
        first = new int[outputs];
        count = new int[outputs];
        weights = new int[outputs * stride];
        this.stride = stride;
    }

    /**
     * The weights for a part of the resized axis.
     *
     * @param inputs how many pixels the axis has
     * @param resized how many pixels it is resized to
     * @param from the first of the resized pixels that are computed
     * @param outputs how many of them are computed
     */
    static TriangleWeights of(int inputs, long resized, long from, int outputs) {
        double scale = (double) inputs / resized;
        double support = Math.max(scale, 1);
        TriangleWeights made = new TriangleWeights(outputs, Math.min(inputs, 2 * (int) Math.ceil(support) + 1) + 1);
        double[] exact = new double[made.stride];
        for (int i = 0; i < outputs; i++) {
            double center = (from + i + 0.5) * scale;
            int first = Math.max(0, (int) (center - support + 0.5));
            int count = Math.min(inputs, (int) (center + support + 0.5)) - first;
            made.set(i, first, count, center, 1 / support, exact);
        }
        return made;
    }

    private void set(int output, int begin, int inputs, double center, double narrowing, double[] exact) {
        double sum = 0;
        for (int k = 0; k < inputs; k++) {
            exact[k] = Math.max(0, 1 - Math.abs((k + begin - center + 0.5) * narrowing));
            sum += exact[k];
        }
        int used = 0;
        int skipped = 0;
        int base = output * stride;
        for (int k = 0; k < inputs; k++) {
            double share = sum == 0 ? exact[k] : exact[k] / sum;
            int weight = (int) (0.5 + share * (1 << PRECISION_BITS));
            if (weight == 0 && used == skipped) {
                skipped++;
                used++;
                continue;
            }
            weights[base + used++ - skipped] = weight;
        }
        while (used > skipped && weights[base + used - skipped - 1] == 0) {
            used--;
        }
        first[output] = begin + skipped;
        count[output] = used - skipped;
        mostInputs = Math.max(mostInputs, count[output]);
    }

    int outputs() {
        return first.length;
    }

    /** The first input that counts for an output. */
    int first(int output) {
        return first[output];
    }

    /** How many inputs, one after the other, count for an output. */
    int count(int output) {
        return count[output];
    }

    /** The weight of the {@code k}-th input that counts for an output. */
    int weight(int output, int k) {
        return weights[output * stride + k];
    }

    /** The first input that counts for each output; they do not decrease. */
    int[] firsts() {
        return first;
    }

    /** All weights; those of an output begin at {@code output * stride()}, and zeros follow them, one at least. */
    int[] weights() {
        return weights;
    }

    int stride() {
        return stride;
    }

    /** The most inputs that count for one output. */
    int mostInputs() {
        return mostInputs;
    }
}
