package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** How fast a trainer is taken to be, from when its reads were seen. */
final class PaceTest {
    private static final long MS = 1_000_000;

    private final Pace pace = new Pace();
    private long nowMs;

    /** So many reads, each some time after the one before. */
    private void reads(int count, long msEach, boolean starved) {
        for (int i = 0; i < count; i++) {
            nowMs += msEach;
            pace.read(nowMs * MS, starved);
        }
    }

    private void isMs(double expected) {
        assertThat(pace.nsPerSample() / MS).isCloseTo(expected, within(1e-9));
    }

    /** Ends the first stretch, which began before the trainer did. */
    private void begin() {
        reads(8, 100, false);
        isMs(0);
    }

    @Test
    void nothingRead_isNotKnown() {
        isMs(0);
    }

    @Test
    void firstStretch_doesNotCount_forItIsNotKnownWhenItBegan() {
        begin();
        reads(8, 10, false);
        isMs(10);
    }

    @Test
    void fewReads_areNoStretch_howeverLongTheyTake() {
        begin();
        reads(7, 20, false);
        isMs(0);
        reads(1, 20, false);
        isMs(20);
    }

    @Test
    void shortTime_isNoStretch_howeverManyReads() {
        begin();
        reads(49, 1, false);
        isMs(0);
        reads(1, 1, false);
        isMs(1);
    }

    @Test
    void lumpOfReads_isSpreadOverItsStretch() {
        begin();
        reads(9, 0, false);
        reads(1, 100, false);
        isMs(10);
    }

    @Test
    void laterStretches_moveItByAQuarter() {
        begin();
        reads(8, 10, false);
        reads(8, 30, false);
        isMs(15);
        reads(8, 7, false);
        isMs(13);
    }

    @Test
    void stretchInWhichTheTrainerWaited_doesNotCount() {
        begin();
        reads(8, 10, false);
        reads(3, 50, false);
        reads(1, 50, true);
        reads(4, 50, false);
        isMs(10);
        reads(8, 30, false);
        isMs(15);
    }

    @Test
    void pause_doesNotCount() {
        begin();
        reads(8, 10, false);
        reads(4, 10, false);
        nowMs += 60_000; // an evaluation
        reads(4, 10, false);
        isMs(10);
        reads(8, 10, false);
        isMs(10);
        nowMs += 1_000_000; // another one
        reads(8, 30, false);
        isMs(10);
        reads(8, 30, false);
        isMs(15);
    }

    @Test
    void stretchThatIsLongerThanExpected_butNoPause_counts() {
        begin();
        reads(8, 10, false);
        reads(8, 110, false); // 0.9 s
        isMs(35);
        reads(8, 325, false); // 2.6 s, and 2.8 s is ten times what was expected
        isMs(107.5);
    }

    @Test
    void twoLongStretchesInARow_areATrainerThatHasBecomeSlow() {
        begin();
        reads(8, 10, false);
        reads(8, 1000, false);
        isMs(10);
        reads(8, 1000, false);
        isMs(257.5);
        reads(8, 1000, false);
        isMs(443.125);
    }

    @Test
    void slowFromTheBeginning_isBelievedTheSecondTime() {
        begin();
        reads(8, 1000, false);
        isMs(0);
        reads(8, 1000, false);
        isMs(1000);
    }

    @Test
    void starvedAsAStretchEnds_theNextDoesNotCountEither() {
        begin();
        reads(7, 10, false);
        reads(1, 10, true);
        isMs(0);
        reads(8, 500, false);
        isMs(0);
        reads(8, 10, false);
        isMs(10);
    }
}
