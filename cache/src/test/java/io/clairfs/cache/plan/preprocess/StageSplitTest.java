package io.clairfs.cache.plan.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.preprocess.PreprocessCurve.Node;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How one pool is divided between loading and preprocessing, and how threads move between batches. */
final class StageSplitTest {
    private static final PreprocessCurve PEAK_AT_SIX = PreprocessModelTest.peakAt(6, 0);

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.005, 0.03})
    void peakAtSix_isSix_forAnyLargerPool(double fall) {
        PreprocessCurve curve = PreprocessModelTest.peakAt(6, fall);
        for (int threads = 7; threads <= 64; threads++) {
            assertThat(StageSplit.atPeak(curve, threads))
                    .as("%d threads", threads)
                    .isEqualTo(new StageSplit(6, threads - 6));
        }
        for (int threads = 2; threads <= 6; threads++) {
            assertThat(StageSplit.atPeak(curve, threads).preprocess()).isEqualTo(threads - 1);
        }
    }

    @ParameterizedTest(name = "{0} s to load, {1} s to train: {2} threads preprocess")
    @CsvSource({
        "0.1, 1, 6", // in time: nobody moves
        "0.1, 0, 6", // preprocessing is the slower stage
        "10, 0, 1", // loading is by far the slower one
        "0.32, 0, 5", // 0.064 s with 5 to load and 0.064 s with 5 to preprocess
        "0.32, 0.2, 6" // 0.08 s and 0.053 s are in time
    })
    void threadsGoToLoading_whileItIsTheSlowerStage_andBothAreLate(double load, double train, int preprocess) {
        BatchWork work = new BatchWork(32, PEAK_AT_SIX, load, train);
        assertThat(StageSplit.of(work, 10).preprocess()).isEqualTo(preprocess);
    }

    /** Among all splits up to the peak, none has a faster slower stage; and none is beyond the peak. */
    @Test
    void splitOfALateBatch_isTheBestOfAll() {
        Map<Integer, PreprocessCurve> curves = new HashMap<>();
        for (int seed = 0; seed < 3000; seed++) {
            Random random = new Random(seed);
            int peak = 1 + random.nextInt(20);
            PreprocessCurve curve =
                    curves.computeIfAbsent(peak, p -> PreprocessModelTest.peakAt(p, random.nextInt(3) * 0.01));
            int threads = 2 + random.nextInt(40);
            BatchWork work = new BatchWork(1 + random.nextInt(64), curve, random.nextDouble() * 4, 0);
            StageSplit split = StageSplit.of(work, threads);
            String what = "seed %d: %d threads, peak at %d, %s".formatted(seed, threads, peak, split);
            assertThat(split.threads()).as(what).isEqualTo(threads);
            assertThat(split.preprocess()).as(what).isLessThanOrEqualTo(peak);
            double best = Double.MAX_VALUE;
            for (int preprocess = 1; preprocess < threads; preprocess++) {
                best = Math.min(best, slower(work, preprocess, threads - preprocess));
            }
            assertThat(slower(work, split.preprocess(), split.load()))
                    .as(what)
                    .isLessThanOrEqualTo(best / 0.98 * (1 + 1e-9)); // the peak is 98 % of the highest rate
        }
    }

    private static double slower(BatchWork work, int preprocess, int load) {
        return Math.max(work.preprocessSeconds(preprocess), work.loadSeconds(load));
    }

    private static BatchWork loading(double seconds) {
        return new BatchWork(32, PEAK_AT_SIX, seconds, 0);
    }

    @Test
    void oneOddBatch_movesNothing() {
        MovingSplit split = new MovingSplit(PEAK_AT_SIX, 10);
        for (int batch = 0; batch < 20; batch++) {
            assertThat(split.batch(loading(batch % 2 == 0 ? 0.01 : 10))).isEqualTo(new StageSplit(6, 4));
        }
    }

    @Test
    void oneThreadMovesForEachBatch_afterTwoThatAgree_andBackAgain() {
        MovingSplit split = new MovingSplit(PEAK_AT_SIX, 10);
        int[] preprocess = new int[9];
        for (int batch = 0; batch < 9; batch++) {
            preprocess[batch] =
                    split.batch(loading(batch > 0 && batch < 5 ? 10 : 0.01)).preprocess();
        }
        assertThat(preprocess).containsExactly(6, 6, 5, 4, 3, 3, 4, 5, 6);
        assertThat(split.batch(loading(0.01)).preprocess())
                .as("never past the peak")
                .isEqualTo(6);
    }

    @Test
    void firstBatch_tellsAtOnceWhatLoadingTakes() {
        MovingSplit split = new MovingSplit(PEAK_AT_SIX, 10);
        assertThat(split.now()).isEqualTo(new StageSplit(6, 4));
        assertThat(split.batch(loading(10))).isEqualTo(new StageSplit(1, 9));
    }

    @Test
    void eachStageKeepsAThread() {
        MovingSplit split = new MovingSplit(new PreprocessCurve(List.of(new Node(1, 0.01))), 2);
        for (int batch = 0; batch < 9; batch++) {
            assertThat(split.batch(loading(batch < 5 ? 100 : 0))).isEqualTo(new StageSplit(1, 1));
        }
    }

    @ParameterizedTest(name = "{1} workers that read {2} s and transform {3} s: {4}")
    @CsvSource({
        "6, 4, 0, 0.01, 6", // all of them transform
        "6, 12, 0, 0.02, 6", // twice the time, for twice as many as the peak
        "6, 4, 0.01, 0.01, 12", // each reads half of the time
        "6, 4, 0.001, 0.01, 7", // 6.6
        "1, 1, 0, 5, 1"
    })
    void adviceCountsTheWorkersThatReadMeanwhile(int peak, int now, double read, double transform, int workers) {
        assertThat(WorkerAdvice.workers(PreprocessModelTest.peakAt(peak, 0), now, read, transform))
                .isEqualTo(workers);
    }
}
