package io.clairfs.cache.plan.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.preprocess.PreprocessCurve.Node;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Curves that are fitted to measured rates, and what they say in between. */
final class PreprocessModelTest {
    private static final int MOST_THREADS = 16;

    private static SortedMap<Integer, Double> measured(int most, IntToDoubleFunction seconds) {
        TreeMap<Integer, Double> measured = new TreeMap<>();
        for (int threads = 1; threads <= most; threads++) {
            measured.put(threads, seconds.applyAsDouble(threads));
        }
        return measured;
    }

    /** Of figure 6 of the paper: grows to a peak at so many threads, then is flat or falls by so much per thread. */
    static PreprocessCurve peakAt(int peak, double fall) {
        return CurveFit.of(measured(
                64, n -> n <= peak ? 0.01 : 0.01 * n / (peak * (1 - fall * Math.min(n - peak, 10)))));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void curveOfSoManySegments_isFoundExactly(int segments) {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(1000L * segments + seed);
            PreprocessCurve true_ = random(random, segments);
            PreprocessCurve fitted = CurveFit.of(measured(MOST_THREADS, true_::seconds));
            for (int threads = 1; threads <= MOST_THREADS; threads++) {
                assertThat(fitted.seconds(threads) / true_.seconds(threads))
                        .as("seed %d, %d threads, %s as %s", seed, threads, true_, fitted)
                        .isCloseTo(1, within(0.02)); // what is off by 0.3 % in the mean is taken for noise
            }
        }
    }

    /** Times that stay or grow, with knots at random places. */
    private static PreprocessCurve random(Random random, int segments) {
        TreeMap<Integer, Double> nodes = new TreeMap<>();
        nodes.put(1, 0.001 + random.nextDouble() / 100);
        while (nodes.size() < segments) {
            nodes.put(2 + random.nextInt(MOST_THREADS - 2), 0.0);
        }
        nodes.put(MOST_THREADS, 0.0);
        double seconds = nodes.firstEntry().getValue();
        for (Map.Entry<Integer, Double> node : nodes.tailMap(2).entrySet()) {
            seconds *= 1 + 2 * random.nextDouble();
            node.setValue(seconds);
        }
        return new PreprocessCurve(nodes.entrySet().stream()
                .map(e -> new Node(e.getKey(), e.getValue()))
                .toList());
    }

    @Test
    void rateOfMoreThreadsThanAnyMachineHas_isRefused() {
        TreeMap<Long, Map<Integer, Double>> rates = new TreeMap<>();
        rates.put(1000L, Map.of(1, 10.0, 2, 20.0, 4, 30.0, 100_000, 90.0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PreprocessModel.measured(rates))
                .withMessageContaining("a rate of 100000 threads");
    }

    @Test
    void noise_isSmoothed_notFollowed() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            PreprocessCurve true_ = random(random, 2);
            PreprocessCurve fitted =
                    CurveFit.of(measured(MOST_THREADS, n -> true_.seconds(n) * (1 + 0.03 * random.nextGaussian())));
            assertThat(fitted.nodes().size()).as("seed %d: %s", seed, fitted).isLessThanOrEqualTo(4);
            for (int threads = 1; threads <= MOST_THREADS; threads++) {
                assertThat(fitted.seconds(threads) / true_.seconds(threads))
                        .as("seed %d, %d threads, %s as %s", seed, threads, true_, fitted)
                        .isCloseTo(1, within(0.12));
            }
        }
    }

    /** Acceptance of the model: measured at three sizes, right at those between. */
    @Test
    void sizesBetweenMeasuredOnes_areWithinTenPercent_andNotWorseThanTheNearest() {
        long[] measuredSizes = {20_000, 90_000, 250_000};
        double ofNearest = 0;
        double ofModel = 0;
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            double perSample = random.nextDouble() * 2e-3;
            double perByte = 1e-8 + random.nextDouble() * 5e-8;
            int peak = 2 + random.nextInt(MOST_THREADS);
            TreeMap<Long, Map<Integer, Double>> rates = new TreeMap<>();
            for (long bytes : measuredSizes) {
                TreeMap<Integer, Double> ofSize = new TreeMap<>();
                for (int threads = 1; threads <= MOST_THREADS; threads++) {
                    double noise = 1 + 0.02 * random.nextGaussian();
                    ofSize.put(threads, threads / (time(perSample, perByte, peak, bytes, threads) * noise));
                }
                rates.put(bytes, ofSize);
            }
            PreprocessModel model = PreprocessModel.measured(rates);
            for (int i = 0; i < 50; i++) {
                long bytes = measuredSizes[0] + random.nextInt((int) (measuredSizes[2] - measuredSizes[0]));
                int threads = 1 + random.nextInt(MOST_THREADS);
                double really = time(perSample, perByte, peak, bytes, threads);
                double off = Math.abs(model.curve(bytes).seconds(threads) / really - 1);
                assertThat(off)
                        .as("seed %d, %d bytes, %d threads, peak %d", seed, bytes, threads, peak)
                        .isLessThan(0.1);
                ofModel = Math.max(ofModel, off);
                ofNearest = Math.max(ofNearest, Math.abs(model.nearest(bytes).seconds(threads) / really - 1));
            }
        }
        System.out.printf("at most off by %.1f %%; the nearest size is by %.1f %%%n", 100 * ofModel, 100 * ofNearest);
        assertThat(ofModel).isLessThan(ofNearest);
    }

    private static double time(double perSample, double perByte, int peak, long bytes, int threads) {
        return (perSample + perByte * bytes) * Math.max(1, (double) threads / peak);
    }

    @Test
    void sizesBeyondMeasuredOnes_growWithTheirBytes_orAreAsTheSmallest() {
        PreprocessModel model = PreprocessModel.measured(
                new TreeMap<>(Map.of(10_000L, Map.of(1, 100.0, 2, 200.0), 20_000L, Map.of(1, 50.0, 2, 80.0))));
        assertThat(model.curve(100).seconds(2)).isCloseTo(0.01, within(1e-9));
        assertThat(model.curve(40_000).seconds(1)).isCloseTo(0.04, within(1e-9));
        assertThat(model.curve(15_000).seconds(2)).isCloseTo((0.01 + 0.025) / 2, within(1e-9));
        assertThat(model.nearest(14_999).seconds(1)).isCloseTo(0.01, within(1e-9));
    }

    @Test
    void threadsBeyondMeasuredOnes_doNotRaiseTheRate() {
        PreprocessCurve curve = new PreprocessCurve(List.of(new Node(1, 0.01), new Node(4, 0.01)));
        assertThat(curve.rate(4)).isCloseTo(400, within(1e-9));
        assertThat(curve.rate(64)).isCloseTo(400, within(1e-9));
        assertThat(curve.fewestAtPeak(64)).isEqualTo(4);
    }

    @Test
    void observations_scaleTheCurve_andKeepItsPeak() {
        ObservedPreprocessing observed =
                new ObservedPreprocessing(new PreprocessModel(List.of(new PreprocessModel.OfSize(1, peakAt(6, 0.01)))));
        for (int batch = 0; batch < 40; batch++) {
            observed.record(1, 3, batch < 20 ? 0.5 : 0.02);
        }
        assertThat(observed.curve(1).seconds(3)).isCloseTo(0.02, within(0.002));
        assertThat(observed.curve(1).fewestAtPeak(64)).isEqualTo(6);
        assertThatIllegalArgumentException().isThrownBy(() -> observed.record(1, 3, 0));
    }

    @Test
    void unmeasured_peaksAtTheProcessors() {
        for (int processors : new int[] {1, 2, 8, 40}) {
            assertThat(PreprocessModel.unmeasured(0.01, processors).curve(5).fewestAtPeak(1000))
                    .isEqualTo(processors);
        }
    }
}
