package io.clairfs.peer.transfer.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class BackOffTest {
    private static final int LEAST_MS = 100;
    private static final int MOST_MS = 1_000;
    private static final int PATIENCE_MS = 600;

    private final BackOff backOff = new BackOff(LEAST_MS, MOST_MS, PATIENCE_MS);
    private final long start = System.nanoTime();

    private long at(long ms) {
        return start + TimeUnit.MILLISECONDS.toNanos(ms);
    }

    /** When it may be asked again. */
    private long rested(long failedMs) {
        long ms = failedMs;
        while (backOff.isResting(at(ms))) {
            ms++;
        }
        return ms;
    }

    @Test
    void nothingFailed_allMayAsk() {
        assertThat(backOff.mayAsk(at(0))).isTrue();
        assertThat(backOff.mayAsk(at(0))).isTrue();
        assertThat(backOff.isLeftAlone(at(0))).isFalse();
    }

    @Test
    void failure_leftAloneTwiceAsLongEachTime_withinBounds() {
        long now = 0;
        for (int expected : new int[] {100, 200, 400, 800, 1_000, 1_000}) {
            backOff.failed(at(now));
            assertThat(backOff.mayAsk(at(now))).isFalse();
            long rested = rested(now);
            assertThat(rested - now).isBetween(expected * 3L / 4, expected * 5L / 4 + 1);
            now = rested;
        }
    }

    @Test
    void afterwards_oneTries_andTheOthersAreTold() {
        backOff.failed(at(0));
        long rested = rested(0);
        assertThat(backOff.isLeftAlone(at(rested))).isFalse();
        assertThat(backOff.mayAsk(at(rested))).isTrue();
        assertThat(backOff.mayAsk(at(rested))).isFalse();
        assertThat(backOff.isLeftAlone(at(rested))).isTrue();
        backOff.succeeded();
        assertThat(backOff.mayAsk(at(rested))).isTrue();
        assertThat(backOff.mayAsk(at(rested))).isTrue();
        assertThat(backOff.isLeftAlone(at(rested))).isFalse();
    }

    @Test
    void whoTriesIsNeverHeardOf_anotherTries() {
        backOff.failed(at(0));
        long rested = rested(0);
        assertThat(backOff.mayAsk(at(rested))).isTrue();
        assertThat(backOff.mayAsk(at(rested + PATIENCE_MS - 1))).isFalse();
        assertThat(backOff.mayAsk(at(rested + PATIENCE_MS))).isTrue();
        assertThat(backOff.mayAsk(at(rested + PATIENCE_MS))).isFalse();
    }

    @Test
    void whatLivesAndFailsAgain_isLeftAloneForLonger() {
        backOff.failed(at(0));
        assertThat(backOff.mayAsk(at(rested(0)))).isTrue();
        backOff.lives();
        assertThat(backOff.mayAsk(at(rested(0)))).isTrue();
        backOff.failed(at(0));
        assertThat(rested(0)).isGreaterThanOrEqualTo(2 * LEAST_MS * 3L / 4);
        backOff.lives();
        backOff.succeeded();
        backOff.failed(at(0));
        assertThat(rested(0)).isLessThanOrEqualTo(LEAST_MS * 5L / 4 + 1);
    }

    @Test
    void success_beginsAnew() {
        backOff.failed(at(0));
        backOff.failed(at(0));
        backOff.succeeded();
        backOff.failed(at(0));
        assertThat(rested(0)).isLessThanOrEqualTo(LEAST_MS * 5L / 4 + 1);
    }
}
