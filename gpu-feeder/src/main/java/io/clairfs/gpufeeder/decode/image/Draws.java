package io.clairfs.gpufeeder.decode.image;

/**
 * Random numbers that follow from a key alone, the same on every machine.
 *
 * <p>SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 1, with the mixing constants of
 * D. Stafford's variant 13.
 */
final class Draws {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
    private static final double UNIT = 0x1.0p-53;

    private long state;

    Draws(long key) {
        state = key;
    }

    /** Uniform, from {@code least} up to but not including {@code most}. */
    double between(double least, double most) {
        return least + (most - least) * ((next() >>> 11) * UNIT);
    }

    /** Uniform, from 0 to {@code count - 1}. */
    int below(int count) {
        return (int) between(0, count);
    }

    private long next() {
        state += GOLDEN_GAMMA;
        long z = state;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
