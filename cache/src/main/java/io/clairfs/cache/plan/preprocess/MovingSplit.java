package io.clairfs.cache.plan.preprocess;

/**
 * The split of a pool from batch to batch. It begins at the peak of preprocessing, since nothing is known of loading. The first batch tells what
 * that takes, and the split becomes what {@link StageSplit#of} wants for it. From then on it goes after what that wants for each batch, one thread at a
 * time.
 *
 * <p>A thread moves when two batches running want it to move the same way, so that a single odd batch moves nothing. Not thread-safe.
 */
public final class MovingSplit {
    private static final int AGREEING_BATCHES = 2;

    private StageSplit now;
    private boolean begun;
    private int direction;
    private int agreeing;

    /** @param threads of the pool, at least 2 */
    public MovingSplit(PreprocessCurve curve, int threads) {
        now = StageSplit.atPeak(curve, threads);
    }

    public StageSplit now() {
        return now;
    }

    /** A batch is through. Returns the split for the next one, which differs by one thread at most, except after the first batch. */
    public StageSplit batch(BatchWork work) {
        StageSplit wantedNow = StageSplit.of(work, now.threads());
        if (!begun) {
            begun = true;
            now = wantedNow;
            return now;
        }
        int wanted = Integer.signum(wantedNow.load() - now.load());
        agreeing = wanted == direction ? Math.min(agreeing + 1, AGREEING_BATCHES) : 1;
        direction = wanted;
        if (wanted != 0 && agreeing == AGREEING_BATCHES) {
            now = now.moved(wanted);
        }
        return now;
    }
}
