package io.clairfs.cache.plan.preprocess;

/**
 * The preprocessing model, scaled by the times of what was preprocessed: a machine that others use, or other work than was measured, changes all
 * times by about the same factor. The factor is an exponential moving average. Thread-safe.
 */
public final class ObservedPreprocessing {
    private static final double WEIGHT = 0.5;

    private final PreprocessModel model;
    private double factor = 1;
    private boolean seen;

    public ObservedPreprocessing(PreprocessModel model) {
        this.model = model;
    }

    /**
     * Records what a batch took.
     *
     * @param bytes of its samples, their mean
     * @param threads that preprocessed meanwhile, their mean
     * @param seconds that one of these threads took for a sample
     */
    public synchronized void record(long bytes, double threads, double seconds) {
        if (!(seconds > 0) || Double.isInfinite(seconds)) {
            throw new IllegalArgumentException("not positive or not finite: " + seconds + " s per sample");
        }
        double now = seconds / model.curve(bytes).seconds(threads);
        factor = seen ? factor + WEIGHT * (now - factor) : now;
        seen = true;
    }

    /** The curve of samples of so many bytes, as it is now. */
    public synchronized PreprocessCurve curve(long bytes) {
        return model.curve(bytes).scaled(factor);
    }
}
