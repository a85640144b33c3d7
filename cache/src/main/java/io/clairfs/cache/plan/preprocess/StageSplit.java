package io.clairfs.cache.plan.preprocess;

/**
 * One pool of threads, divided between two stages: Lobster, section 4.1.
 *
 * @param preprocess threads that preprocess, at least one
 * @param load threads that load, at least one
 */
public record StageSplit(int preprocess, int load) {
    public StageSplit {
        if (preprocess < 1 || load < 1) {
            throw new IllegalArgumentException(
                    preprocess + " threads to preprocess, " + load + " to load: each stage needs one");
        }
    }

    /** Step 1: the fewest threads that reach the peak of preprocessing; the rest load. */
    public static StageSplit atPeak(PreprocessCurve curve, int threads) {
        int preprocess = curve.fewestAtPeak(threads - 1);
        return new StageSplit(preprocess, threads - preprocess);
    }

    /**
     * Steps 1 and 2: threads go from preprocessing to loading while both together take longer than the trainer (T_L + T_p > T_train) and
     * preprocessing is not the slower stage. The paper does not say when preprocessing becomes the slower one by such a move; here a thread
     * that would make the slower stage no faster stays.
     *
     * @param threads of the pool, at least 2
     */
    public static StageSplit of(BatchWork work, int threads) {
        StageSplit split = atPeak(work.curve(), threads);
        while (split.preprocess > 1 && split.isLate(work)) {
            StageSplit next = new StageSplit(split.preprocess - 1, split.load + 1);
            if (next.slowerSeconds(work) >= split.slowerSeconds(work)) {
                break;
            }
            split = next;
        }
        return split;
    }

    private boolean isLate(BatchWork work) {
        double loading = work.loadSeconds(load);
        double preprocessing = work.preprocessSeconds(preprocess);
        return loading + preprocessing > work.trainSeconds() && preprocessing < loading;
    }

    /** How long the slower stage takes for the batch. */
    private double slowerSeconds(BatchWork work) {
        return Math.max(work.loadSeconds(load), work.preprocessSeconds(preprocess));
    }

    /** The threads of both stages. */
    public int threads() {
        return preprocess + load;
    }

    /** The split with one thread moved to loading (1) or from it (-1). */
    StageSplit moved(int direction) {
        return new StageSplit(preprocess - direction, load + direction);
    }
}
