package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.status.NodeTraffic;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What epochs took and how much of it was waiting, from times that are given. */
final class TrainingTimesTest {
    private static final long MS = 1_000_000;
    private static final int BATCH = 4;
    private static final int WINDOW = 8;

    private final TrainingTimes times = new TrainingTimes(BATCH, WINDOW, true);
    private long nowMs = 1_000;

    /** Steps of a trainer without loader processes: each sample is asked for, waits so long, and is computed on. */
    private void train(int epoch, int samples, long waitMs, long computeMs) {
        for (int i = 0; i < samples; i++) {
            if (waitMs > 0) {
                times.waited(epoch, nowMs * MS, (nowMs + waitMs) * MS);
                nowMs += waitMs;
            }
            times.read(epoch, nowMs * MS);
            nowMs += computeMs;
        }
    }

    private EpochTime last() {
        return times.epochs().getLast();
    }

    @Test
    void nothingRead_isNoEpoch() {
        assertThat(times.epochs()).isEmpty();
        assertThat(times.sampleSeconds()).isZero();
        assertThat(times.readerWaitSeconds()).isZero();
    }

    @Test
    void readsThatMayBeAnothers_countInAnEpochUnderWay_untilTheyTurnOutToBe() {
        assertThat(times.readSuspect(0)).isFalse();
        assertThat(times.epochs()).isEmpty();
        train(0, 10, 0, 10);
        double seconds = last().seconds();
        assertThat(times.readSuspect(0)).isTrue();
        assertThat(times.readSuspect(0)).isTrue();
        assertThat(last().samples()).isEqualTo(12);
        times.unread(0);
        assertThat(last().samples()).isEqualTo(11);
        assertThat(last().seconds()).isEqualTo(seconds);
    }

    @Test
    void everyReadWaits_waitIsThatOfTheReads() {
        train(0, 100, 30, 10);
        assertThat(last().samples()).isEqualTo(100);
        assertThat(last().seconds()).isCloseTo(3.99, within(1e-9)); // to the last read
        assertThat(last().readerWaitSeconds()).isCloseTo(3, within(1e-9));
        assertThat(last().waitedSeconds()).isCloseTo(3, within(1e-9));
        assertThat(last().utilisation()).isCloseTo(0.99 / 3.99, within(1e-9));
        assertThat(times.sampleSeconds()).isZero(); // there was no moment to see it
    }

    @Test
    void noReadWaits_acceleratorIsBusy() {
        train(0, 100, 0, 10);
        assertThat(last().waitedSeconds()).isZero();
        assertThat(last().utilisation()).isEqualTo(1);
        assertThat(times.sampleSeconds()).isCloseTo(0.010, within(1e-9));
    }

    @Test
    void loadersWaitWhileTheTrainerComputes_waitIsWhatTheComputationLeaves() {
        train(0, 200, 0, 10);
        // In epoch 1 one of the loaders waits all the time, and the trainer is no slower for it than by a tenth.
        long start = nowMs;
        train(1, 200, 0, 11);
        times.waited(1, start * MS, (start + 2_200) * MS);
        assertThat(last().readerWaitSeconds()).isCloseTo(2.2, within(1e-9));
        assertThat(last().waitedSeconds()).isCloseTo(2.2 - 1.92, within(1e-9)); // a window less
        assertThat(last().utilisation()).isCloseTo(1.92 / 2.2, within(1e-9));
    }

    @Test
    void pausedTrainer_doesNotWaitForData() {
        train(0, 100, 5, 10);
        nowMs += 3_600_000;
        train(0, 100, 5, 10);
        assertThat(last().seconds()).isGreaterThan(3_600);
        assertThat(last().waitedSeconds()).isCloseTo(1, within(1e-9));
    }

    @Test
    void pauseInACalmEpoch_doesNotChangeWhatASampleTakes() {
        train(0, 100, 0, 10);
        nowMs += 60_000;
        train(0, 100, 0, 10);
        assertThat(times.sampleSeconds()).isCloseTo(0.010, within(1e-9));
    }

    @Test
    void waitsThatBecomeKnownLate_takeBackCalmStretches() {
        long start = nowMs;
        train(0, 100, 0, 40);
        assertThat(times.sampleSeconds()).isCloseTo(0.040, within(1e-9));
        times.waited(0, start * MS, nowMs * MS);
        assertThat(times.sampleSeconds()).isZero();
        assertThat(last().waitedSeconds()).isCloseTo(4, within(1e-9));
    }

    // Promise J20
    @Test
    void readersOfSeveralRanks_thatWaitTogether_countOnce() {
        times.waited(0, 0, 100 * MS);
        times.waited(0, 50 * MS, 150 * MS);
        assertThat(times.readerWaitSeconds()).isCloseTo(0.150, within(1e-9));
        assertThat(last().seconds()).isCloseTo(0.150, within(1e-9));
        assertThat(last().utilisation()).isZero();
    }

    @Test
    void loadersThatAlwaysWait_tellTheLeastWaitByTheFastestEpoch() {
        long start = nowMs;
        train(0, 200, 0, 40);
        times.waited(0, start * MS, nowMs * MS);
        assertThat(last().waitedAtLeastSeconds()).isZero(); // it may compute all the time
        assertThat(last().waitedSeconds()).isCloseTo(8, within(1e-9));
        start = nowMs;
        train(1, 200, 0, 10);
        times.waited(1, start * MS, nowMs * MS);
        // Of the second epoch 192 samples at least were computed on in 1.99 s, so it is at most 1.99 / 191 for each.
        EpochTime first = times.epochs().getFirst();
        assertThat(first.waitedAtLeastSeconds()).isCloseTo(8 - 200 * 1.99 / 191, within(1e-9));
        assertThat(first.waitedSeconds()).isCloseTo(8, within(1e-9));
        assertThat(last().waitedAtLeastSeconds()).isZero();
    }

    @Test
    void trainerThatReadsItself_waitsWheneverItsReadsDo() {
        TrainingTimes own = new TrainingTimes(BATCH, WINDOW, false);
        long now = 0;
        for (int i = 0; i < 400; i++) {
            if (i >= 200) {
                own.waited(0, now * MS, (now + 5) * MS);
                now += 5;
            }
            own.read(0, now * MS);
            now += 10;
        }
        EpochTime epoch = own.epochs().getFirst();
        assertThat(epoch.waitedSeconds()).isCloseTo(1, within(1e-9));
        assertThat(epoch.waitedAtLeastSeconds()).isCloseTo(1, within(1e-9));
    }

    @Test
    void whatTrainersTell_isTheirWait() {
        times.told(0, 1, 2); // of an epoch that nobody has read
        train(0, 100, 30, 10);
        assertThat(last().isTold()).isFalse();
        times.told(0, 0.5, 2);
        times.told(0, 0.5, 2);
        times.told(1, 2, 6);
        assertThat(last().isTold()).isTrue();
        assertThat(last().waitedSeconds()).isCloseTo(1.5, within(1e-9));
        assertThat(last().waitedAtLeastSeconds()).isCloseTo(1.5, within(1e-9));
        assertThat(last().seconds()).isCloseTo(5, within(1e-9));
        assertThat(last().utilisation()).isCloseTo(0.7, within(1e-9));
        assertThat(last().readerWaitSeconds()).isCloseTo(3, within(1e-9));
    }

    @Test
    void lastEpochs_areKept_andTheSumIsOfAll() {
        for (int epoch = 0; epoch < 3 * TrainingTimes.KEPT; epoch++) {
            train(epoch, 10, 1, 1);
        }
        assertThat(times.epochs().stream().map(EpochTime::epoch))
                .hasSize(TrainingTimes.KEPT)
                .first()
                .isEqualTo(2 * TrainingTimes.KEPT);
        assertThat(last().epoch()).isEqualTo(3 * TrainingTimes.KEPT - 1);
        assertThat(times.readerWaitSeconds()).isCloseTo(3 * TrainingTimes.KEPT * 0.010, within(1e-9));
        times.read(0, nowMs * MS); // a straggler of an epoch that is forgotten
        assertThat(times.epochs()).hasSize(TrainingTimes.KEPT);
    }

    @Test
    void restartedTrainer_isTimedAnew() {
        train(0, 10, 1, 1);
        train(1, 10, 1, 1);
        nowMs += 500_000;
        times.wentBackTo(1);
        train(1, 20, 1, 1);
        assertThat(times.epochs()).hasSize(2);
        assertThat(last().samples()).isEqualTo(20);
        assertThat(last().seconds()).isLessThan(1);
        assertThat(times.readerWaitSeconds()).isCloseTo(0.040, within(1e-9));
    }

    @Test
    void traffic_isThatSinceTheEpochBefore() {
        times.traffic(traffic(5));
        train(0, 1, 1, 1);
        times.traffic(traffic(7));
        times.traffic(traffic(15));
        train(1, 1, 1, 1);
        times.traffic(traffic(20));
        List<EpochTime> epochs = times.epochs();
        assertThat(epochs.get(0).traffic()).isEqualTo(traffic(10));
        assertThat(epochs.get(1).traffic()).isEqualTo(traffic(5));
    }

    private static NodeTraffic traffic(long n) {
        NodeTraffic.Amount amount = new NodeTraffic.Amount(n, 1_000 * n);
        return new NodeTraffic(n, n, amount, amount, amount, amount);
    }
}
