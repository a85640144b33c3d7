package io.clairfs.tools.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RepeatedReadsTest {
    private long now = Long.MAX_VALUE - 1;
    private final RepeatedReads repeated = new RepeatedReads(() -> now);

    @Test
    void theThreadThatWasTold_isToldAgainForASecond() {
        repeated.timedOut(7, 100);
        assertThat(repeated.isEmpty()).isFalse();
        assertThat(repeated.isRepeated(7, 101)).isFalse();
        assertThat(repeated.isRepeated(8, 100)).isFalse();
        now += TimeUnit.MILLISECONDS.toNanos(900);
        assertThat(repeated.isRepeated(7, 100)).isTrue();
        assertThat(repeated.isRepeated(7, 100)).isTrue();
        now += TimeUnit.MILLISECONDS.toNanos(200);
        assertThat(repeated.isRepeated(7, 100)).isFalse();
        assertThat(repeated.isEmpty()).isTrue();
    }

    @Test
    void readersOfTheFile_areAtTheHeelsOfTheOneThatWasToldLast() {
        repeated.timedOut(7, 100);
        for (int thread = 101; thread < 106; thread++) {
            now += TimeUnit.MILLISECONDS.toNanos(90);
            assertThat(repeated.isAtHeels(7)).isTrue();
            assertThat(repeated.isAtHeels(8)).isFalse();
            repeated.timedOut(7, thread);
        }
        now += TimeUnit.MILLISECONDS.toNanos(110);
        assertThat(repeated.isAtHeels(7)).isFalse();
        assertThat(repeated.isRepeated(7, 105)).isTrue();
    }

    @Test
    void requestsOfNobodyKnown_areNoRepetitions() {
        repeated.timedOut(7, 0);
        assertThat(repeated.isRepeated(7, 0)).isFalse();
        assertThat(repeated.isAtHeels(7)).isTrue();
        now += TimeUnit.MILLISECONDS.toNanos(110);
        assertThat(repeated.isAtHeels(7)).isFalse();
        assertThat(repeated.isEmpty()).isTrue();
    }
}
