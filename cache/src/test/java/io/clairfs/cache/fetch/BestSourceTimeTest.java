package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BestSourceTimeTest {
    private final BestSourceTime best = new BestSourceTime();

    @Test
    void nothingIsKnownBeforeTheFirstRead() {
        assertThat(best.seconds(1)).isInfinite();
    }

    @Test
    void quickRead_countsForAWhile() {
        best.took(1_000, 0.06);
        best.took(1_000, 0.001);
        best.took(1_000, 0.03);
        assertThat(best.seconds(1_000)).isLessThan(0.002);
        for (int i = 0; i < 20; i++) {
            best.took(1_000, 0.03);
        }
        assertThat(best.seconds(1_000)).isEqualTo(0.03);
    }

    @Test
    void largerSample_takesInProportion_andASmallerOneNoLess() {
        best.took(1_000, 0.001);
        assertThat(best.seconds(10_000)).isEqualTo(0.01);
        assertThat(best.seconds(10)).isEqualTo(0.001);
        best.took(10_000, 0.002);
        assertThat(best.seconds(1_000)).isEqualTo(0.002);
        best.took(0, 0.0001);
        assertThat(best.seconds(0)).isEqualTo(0.0001);
    }
}
