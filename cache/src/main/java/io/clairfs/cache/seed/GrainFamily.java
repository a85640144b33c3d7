package io.clairfs.cache.seed;

import io.clairfs.cache.order.grain.GrainIndexShuffle;

/** Grain's shuffle, of which every element can be computed by itself. */
final class GrainFamily implements PrefixFamily {
    /** Its cipher has 2^16 values at least and goes on until it finds one below the samples: with fewer than these, often. */
    private static final int CHEAP = 1 << 14;

    private static final long SEEDS_WHERE_COSTLY = 20_000;

    private final int samples;
    private final long[] seeds = new long[LANES];

    GrainFamily(int samples) {
        this.samples = samples;
    }

    @Override
    public String whole(long seed) {
        return "sampler=grain seed=" + (seed & 0xffffffffL);
    }

    @Override
    public Dealing dealing() {
        return Dealing.BY_SAMPLE;
    }

    @Override
    public void seed(long[] given) {
        System.arraycopy(given, 0, seeds, 0, LANES);
    }

    @Override
    public int first(int lane, int[] order, int count) {
        GrainIndexShuffle shuffle = new GrainIndexShuffle(Math.max(0, samples - 1), (int) seeds[lane]);
        int written = Math.min(count, samples);
        for (int i = 0; i < written; i++) {
            order[i] = (int) shuffle.at(i);
        }
        return written;
    }

    @Override
    public int most() {
        return FOR_ONE;
    }

    @Override
    public long seeds() {
        return samples < CHEAP ? SEEDS_WHERE_COSTLY : Long.MAX_VALUE;
    }
}
