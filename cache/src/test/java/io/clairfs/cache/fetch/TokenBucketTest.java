package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class TokenBucketTest {
    private long nowNs = Long.MAX_VALUE - 500; // the clock may pass its largest value
    private final TokenBucket bucket = new TokenBucket(2, 1_000, () -> nowNs);

    private int taken() {
        int taken = 0;
        while (bucket.take()) {
            taken++;
        }
        return taken;
    }

    @Test
    void isFullAtFirst_andGetsOneTokenAfterEachPause() {
        assertThat(taken()).isEqualTo(2);
        nowNs += 999;
        assertThat(taken()).isZero();
        nowNs += 1;
        assertThat(taken()).isEqualTo(1);
    }

    @Test
    void neverHoldsMoreThanItsSize() {
        assertThat(taken()).isEqualTo(2);
        nowNs += 1_000_000;
        assertThat(taken()).isEqualTo(2);
    }
}
