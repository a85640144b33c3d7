package io.clairfs.fs.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RepeatedReadsTest {
    private static final long TIMEOUT_MS = 5_000;
    private static final long SHARE_MS = 500;

    private long now = Long.MAX_VALUE - 1;
    private final RepeatedReads repeated = new RepeatedReads(() -> now);

    private void passMs(long ms) {
        now += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    private long patienceMs(int file, int thread) {
        return repeated.patienceMs(file, thread, TIMEOUT_MS);
    }

    @Test
    void theThreadThatWasTold_isToldAgainForASecond() {
        repeated.timedOut(7, 100, false);
        passMs(900);
        assertThat(patienceMs(7, 100)).isZero();
        assertThat(patienceMs(7, 100)).isZero();
        assertThat(patienceMs(8, 100)).isEqualTo(TIMEOUT_MS);
        passMs(200);
        assertThat(patienceMs(7, 100)).isEqualTo(TIMEOUT_MS);
    }

    @Test
    void theFirstAtTheHeels_waitsForAPart_andTheOthersAreToldAtOnce() {
        repeated.timedOut(7, 100, false);
        passMs(990);
        assertThat(patienceMs(8, 101)).isEqualTo(TIMEOUT_MS);
        assertThat(patienceMs(7, 101)).isEqualTo(SHARE_MS);
        passMs(SHARE_MS);
        repeated.timedOut(7, 101, true);
        for (int thread = 102; thread < 113; thread++) {
            passMs(90);
            assertThat(patienceMs(7, thread)).isZero();
        }
        passMs(90);
        assertThat(patienceMs(7, 113))
                .as("after a second the source is tried again")
                .isEqualTo(TIMEOUT_MS);
    }

    @Test
    void whoComesLater_waitsForTheWholeTimeout() {
        repeated.timedOut(7, 100, false);
        passMs(1_100);
        assertThat(patienceMs(7, 101)).isEqualTo(TIMEOUT_MS);
        repeated.timedOut(7, 101, true);
        passMs(1_100);
        assertThat(patienceMs(7, 102)).isEqualTo(TIMEOUT_MS);
    }

    /** The kernel lets one after the other ask for a page, in the order in which they came. */
    // Promise W1
    @Test
    void ofManyReadersOfAPage_noneWaitsForMuchMoreThanTheTimeout() {
        int threads = 64;
        long[] cameMs = new long[threads];
        long waitedMs = 0;
        long clockMs = 0;
        for (int turn = 0; turn < 10_000; turn++) {
            int thread = turn % threads; // who was told comes again when all others have been told
            long patience = patienceMs(7, thread);
            clockMs += Math.max(1, patience);
            passMs(Math.max(1, patience));
            if (patience > 0) {
                repeated.timedOut(7, thread, patience < TIMEOUT_MS);
            }
            waitedMs = Math.max(waitedMs, clockMs - cameMs[thread]);
            cameMs[thread] = clockMs;
        }
        assertThat(waitedMs).isBetween(TIMEOUT_MS, TIMEOUT_MS + 2 * SHARE_MS);
    }

    @Test
    void requestsOfNobodyKnown_areNoRepetitions() {
        repeated.timedOut(7, 0, false);
        assertThat(patienceMs(7, 0)).isEqualTo(SHARE_MS);
        passMs(1_100);
        assertThat(patienceMs(7, 0)).isEqualTo(TIMEOUT_MS);
    }
}
