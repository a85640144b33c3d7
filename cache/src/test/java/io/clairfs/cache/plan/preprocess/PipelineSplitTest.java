package io.clairfs.cache.plan.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.preprocess.VirtualPipeline.Regime;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The moving split beside all fixed ones, in virtual time: within 5 % of the best of them, and at least 1.2 times as fast as three loaders
 * (DALI's) where loading is the bottleneck.
 */
final class PipelineSplitTest {
    private static final int BATCHES = 200;
    private static final int REGIME_BATCHES = 50;
    private static final double NEAR_THE_BEST = 1.05;
    private static final double AGAINST_THREE_LOADERS = 1.2;
    private static final int DALI_LOADERS = 3;
    private static final Regime LOAD_BOUND = new Regime(0.008, 0.002);
    private static final Regime DECODE_BOUND = new Regime(0.001, 0.008);

    private static IntFunction<Regime> regimes(String name) {
        return switch (name) {
            case "load-bound" -> _ -> LOAD_BOUND;
            case "decode-bound" -> _ -> DECODE_BOUND;
            case "alternating" -> batch -> batch / REGIME_BATCHES % 2 == 0 ? LOAD_BOUND : DECODE_BOUND;
            default -> throw new AssertionError(name);
        };
    }

    @ParameterizedTest(name = "{0}, {1} threads, peak at {2}")
    @CsvSource({
        "load-bound, 8, 6",
        "load-bound, 16, 6",
        "load-bound, 8, 64",
        "decode-bound, 8, 6",
        "decode-bound, 16, 6",
        "decode-bound, 8, 64",
        "alternating, 8, 6",
        "alternating, 16, 6",
        "alternating, 8, 64"
    })
    void movingSplit_isNearTheBestFixedOne(String regime, int threads, int peak) {
        IntToDoubleFunction slowdown = n -> Math.max(1, (double) n / peak);
        IntFunction<Regime> regimes = regimes(regime);
        double best = Double.MAX_VALUE;
        for (int load = 1; load < threads; load++) {
            best = Math.min(
                    best, VirtualPipeline.fixed(BATCHES, slowdown, regimes, new StageSplit(threads - load, load)));
        }
        double three =
                VirtualPipeline.fixed(BATCHES, slowdown, regimes, new StageSplit(threads - DALI_LOADERS, DALI_LOADERS));
        double moving = moving(threads, peak, slowdown, regimes);
        System.out.printf(
                Locale.ROOT,
                "%s, %d threads, peak at %d: moving %.2f s, best fixed %.2f s, three loaders %.2f s%n",
                regime,
                threads,
                peak,
                moving,
                best,
                three);
        assertThat(moving).isLessThanOrEqualTo(best * NEAR_THE_BEST);
        if (regime.equals("load-bound")) {
            assertThat(three / moving).isGreaterThanOrEqualTo(AGAINST_THREE_LOADERS);
        }
    }

    private static double moving(int threads, int peak, IntToDoubleFunction slowdown, IntFunction<Regime> regimes) {
        PreprocessModel model =
                new PreprocessModel(List.of(new PreprocessModel.OfSize(1, PreprocessModelTest.peakAt(peak, 0))));
        ObservedPreprocessing observed = new ObservedPreprocessing(model);
        MovingSplit split = new MovingSplit(observed.curve(1), threads);
        return new VirtualPipeline(BATCHES, slowdown, regimes).run(split.now(), seen -> {
            observed.record(1, seen.split().preprocess(), seen.preprocessSeconds());
            return split.batch(new BatchWork(VirtualPipeline.BATCH, observed.curve(1), seen.loadThreadSeconds(), 0));
        });
    }
}
