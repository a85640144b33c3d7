package io.clairfs.cache.plan.preprocess;

/**
 * How many worker processes of a trainer's loader reach the peak of preprocessing.
 *
 * <p>A worker reads a sample, then transforms it, so only some of the workers transform at a time; {@link PreprocessCurve} counts those. With r
 * seconds of reading and c of transforming per sample, W workers have W c / (r + c) of them transforming. For q* of them
 * ({@link PreprocessCurve#fewestAtPeak}) the loader needs q* and those that read meanwhile: q* (1 + r / c(q*)).
 */
public final class WorkerAdvice {
    /** A share of a worker that is rounded down. */
    private static final double NEXT_TO_NOTHING = 0.05;

    private WorkerAdvice() {}

    /**
     * The fewest workers of all ranks together that reach the peak.
     *
     * @param curve of the shape that is expected; its times are scaled to those seen
     * @param workers that all ranks have now
     * @param readSeconds that a worker waits for a sample's bytes
     * @param transformSeconds that it then takes, with that number of workers
     */
    public static int workers(PreprocessCurve curve, int workers, double readSeconds, double transformSeconds) {
        if (workers < 1 || !(readSeconds >= 0) || !(transformSeconds > 0)) {
            throw new IllegalArgumentException(workers + " workers, " + readSeconds + " s to read, " + transformSeconds
                    + " s to transform a sample");
        }
        double transforming = workers * transformSeconds / (readSeconds + transformSeconds);
        PreprocessCurve seen = curve.scaled(transformSeconds / curve.seconds(transforming));
        int atPeak = seen.fewestAtPeak(seen.measuredThreads());
        return (int) Math.ceil(atPeak + seen.rate(atPeak) * readSeconds - NEXT_TO_NOTHING);
    }
}
