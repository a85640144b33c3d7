package io.clairfs.cache.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatencyTest {
    private final Latency latency = new Latency();

    @Test
    void nothingSeen_isZeros() {
        assertThat(latency.summary()).isEqualTo(new Latency.Summary(0, 0, 0, 0, 0, 0));
    }

    @Test
    void percentiles_areWithinAHundredth() {
        for (int ms = 1; ms <= 1000; ms++) {
            latency.record(TimeUnit.MILLISECONDS.toNanos(ms));
        }
        Latency.Summary seen = latency.summary();
        assertThat(seen.count()).isEqualTo(1000);
        assertThat(seen.p50()).isCloseTo(0.5, within(0.005));
        assertThat(seen.p90()).isCloseTo(0.9, within(0.009));
        assertThat(seen.p99()).isCloseTo(0.99, within(0.01));
        assertThat(seen.p999()).isCloseTo(0.999, within(0.01));
        assertThat(seen.max()).isCloseTo(1, within(0.01));
    }

    @Test
    void buckets_countEachDurationOnce() {
        long sumUs = 0;
        for (int us = 1; us <= 200_000; us += 7) {
            latency.record(TimeUnit.MICROSECONDS.toNanos(us));
            sumUs += us;
        }
        Latency.Buckets seen = latency.buckets();
        assertThat(seen.upperSeconds()).isSorted().endsWith(Double.POSITIVE_INFINITY);
        assertThat(seen.sumSeconds()).isCloseTo(sumUs / 1e6, within(1e-9));
        assertThat(java.util.Arrays.stream(seen.counts()).sum())
                .isEqualTo(latency.summary().count());
        long below = 0;
        for (int i = 0; i < seen.counts().length; i++) {
            below += seen.counts()[i];
            double exact = Math.min(200_000, seen.upperSeconds()[i] * 1e6) / 7;
            assertThat((double) below)
                    .as("up to %s s", seen.upperSeconds()[i])
                    .isCloseTo(exact, within(2 + exact / 50));
        }
    }

    @Test
    void whatLiesOutside_countsAsTheEnds() {
        latency.record(-5);
        latency.record(1);
        latency.record(TimeUnit.DAYS.toNanos(3));
        Latency.Summary seen = latency.summary();
        assertThat(seen.count()).isEqualTo(3);
        assertThat(seen.p50()).isCloseTo(1e-6, within(1e-9));
        assertThat(seen.max()).isCloseTo(3600, within(36.0));
    }
}
