package io.clairfs.cache.seed;

import io.clairfs.cache.order.random.Philox;

/**
 * tf.data's shuffle with a buffer for all samples, which is a forward shuffle by Philox, in its first epoch and with the usual global seed.
 * Source: as for {@link io.clairfs.cache.order.tensorflow.TfDataSampler}.
 */
final class TfDataFamily implements PrefixFamily {
    private static final long GLOBAL_SEED = 87654321;

    private final int samples;
    private final ForwardShuffle shuffle;
    private final long[] seeds = new long[LANES];
    private final int[] words = new int[MOST];

    TfDataFamily(int samples) {
        this.samples = samples;
        shuffle = new ForwardShuffle(samples, MOST);
    }

    @Override
    public String whole(long seed) {
        return "sampler=tf-data seed=" + seed;
    }

    @Override
    public Dealing dealing() {
        return Dealing.TO_ONE;
    }

    @Override
    public void seed(long[] given) {
        System.arraycopy(given, 0, seeds, 0, LANES);
    }

    @Override
    public int first(int lane, int[] order, int count) {
        int written = Math.min(count, samples);
        Philox ofEpochs = new Philox(GLOBAL_SEED, seeds[lane] % Integer.MAX_VALUE);
        long first = ofEpochs.next32() & 0xffffffffL;
        Philox draws = new Philox(first, ofEpochs.next32() & 0xffffffffL);
        for (int i = 0; i < written; i++) {
            words[i] = draws.next32();
        }
        shuffle.first(words, 0, order, written);
        return written;
    }
}
