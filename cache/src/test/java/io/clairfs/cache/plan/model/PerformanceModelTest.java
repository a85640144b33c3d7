package io.clairfs.cache.plan.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.PlanCases;
import io.clairfs.cache.plan.model.Throughput.Point;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The formulas of NoPFS section 4, with its simulator's figures of section 6.1 where they serve. */
final class PerformanceModelTest {
    private static final double MB = 1e6;
    private static final Offset<Double> EXACT = within(1e-12);

    /** The slow store of section 6.1: t(1) = 330, t(2) = 730, t(4) = 1,540, t(8) = 2,870 MB/s. */
    private static final Throughput LASSEN = new Throughput(
            List.of(new Point(1, 330 * MB), new Point(2, 730 * MB), new Point(4, 1540 * MB), new Point(8, 2870 * MB)));

    private static final StorageClass STAGING = new StorageClass(
            "staging", 5_000_000_000L, 8, Throughput.constant(111_000 * MB), Throughput.constant(1600 * MB));
    private static final StorageClass MEMORY = new StorageClass(
            "memory", 120_000_000_000L, 4, Throughput.constant(85_000 * MB), Throughput.constant(85_000 * MB));
    private static final StorageClass SSD = new StorageClass(
            "ssd", 900_000_000_000L, 2, Throughput.constant(4000 * MB), Throughput.constant(4000 * MB));
    private static final PerformanceModel MODEL = new PerformanceModel(64 * MB, 250 * MB, 24_000 * MB, LASSEN, STAGING);

    @ParameterizedTest
    @CsvSource({"0.5, 165", "1, 330", "1.5, 530", "2, 730", "3, 1135", "8, 2870", "100, 2870"})
    void at_isPiecewiseLinear(double threads, double expectedMb) {
        assertThat(LASSEN.at(threads)).isEqualTo(expectedMb * MB, within(1e-3));
        assertThat(LASSEN.each(threads)).isEqualTo(expectedMb * MB / threads, within(1e-3));
    }

    @Test
    void at_belowTheFirstPoint_givesEachThreadTheSame() {
        Throughput measuredAtFour = Throughput.perThread(100, 4);
        assertThat(measuredAtFour.at(1)).isEqualTo(100);
        assertThat(measuredAtFour.at(4)).isEqualTo(400);
        assertThat(measuredAtFour.at(9)).isEqualTo(400);
        assertThat(Throughput.constant(7).at(3)).isEqualTo(7);
    }

    @Test
    void points_thatCannotBe_areRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Throughput(List.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> new Point(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Point(1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Point(1, Double.NaN));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Throughput(List.of(new Point(2, 1), new Point(2, 2))));
        assertThatIllegalArgumentException().isThrownBy(() -> LASSEN.at(0));
        assertThatIllegalArgumentException().isThrownBy(() -> StorageClass.memory(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> MODEL.withLatencies(-1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new PerformanceModel(1, 1, 0, LASSEN, STAGING));
    }

    @Test
    void fetch_ofTheThreeCases_isThePapers() {
        assertThat(MODEL.fetchFromSource(1_540_000, 4)).isEqualTo(1.54 / (1540.0 / 4), EXACT);
        assertThat(MODEL.fetchFromPeer(1_000_000, SSD)).isEqualTo(1.0 / 2000, EXACT);
        assertThat(MODEL.fetchFromPeer(1_000_000, STAGING)).isEqualTo(1.0 / 13_875, EXACT);
        PerformanceModel slowNetwork = new PerformanceModel(64 * MB, 250 * MB, 100 * MB, LASSEN, STAGING);
        assertThat(slowNetwork.fetchFromPeer(1_000_000, MEMORY)).isEqualTo(0.01, EXACT);
        assertThat(MODEL.fetchFromLocal(1_000_000, SSD)).isEqualTo(0.0005, EXACT);
    }

    @Test
    void write_isTheSlowerOfPreprocessingAndStoring() {
        assertThat(MODEL.write(1_000_000)).isEqualTo(1 / 200.0, EXACT);
        StorageClass fast = new StorageClass("staging", 1, 1, LASSEN, Throughput.constant(1e9));
        PerformanceModel slowToPreprocess = new PerformanceModel(64 * MB, 250 * MB, 24_000 * MB, LASSEN, fast);
        assertThat(slowToPreprocess.write(1_000_000)).isEqualTo(1 / 250.0, EXACT);
        assertThat(MODEL.read(0.25, 1_000_000)).isEqualTo(0.255, EXACT);
    }

    @Test
    void latency_isAddedToEachRequest() {
        PerformanceModel late = MODEL.withLatencies(0.01, 0.001);
        assertThat(late.fetchFromSource(0, 1)).isEqualTo(0.01, EXACT);
        assertThat(late.fetchFromPeer(0, PlanCases.ssd(1))).isEqualTo(0.0011, EXACT);
        assertThat(late.fetchFromLocal(0, PlanCases.ssd(1))).isEqualTo(0.0001, EXACT);
    }
}
