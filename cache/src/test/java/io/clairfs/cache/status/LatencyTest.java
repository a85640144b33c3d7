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
