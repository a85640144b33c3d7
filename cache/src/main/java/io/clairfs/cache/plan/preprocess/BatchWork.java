package io.clairfs.cache.plan.preprocess;

/**
 * What one batch asks of the stages.
 *
 * @param samples in the batch
 * @param curve of its samples
 * @param loadThreadSeconds what loading takes one thread, for the whole batch
 * @param trainSeconds T_train, how long the trainer takes for a batch; 0 when it is not known, which is always too late
 */
public record BatchWork(int samples, PreprocessCurve curve, double loadThreadSeconds, double trainSeconds) {
    public BatchWork {
        if (samples < 1 || !(loadThreadSeconds >= 0) || !(trainSeconds >= 0)) {
            throw new IllegalArgumentException(
                    samples + " samples, " + loadThreadSeconds + " s to load, " + trainSeconds + " s to train");
        }
    }

    /** T_L, the loading time of the batch with so many threads. */
    double loadSeconds(int threads) {
        return loadThreadSeconds / threads;
    }

    /** T_p, its preprocessing time with so many threads. */
    double preprocessSeconds(int threads) {
        return samples / curve.rate(threads);
    }
}
