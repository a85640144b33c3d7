package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which steps count as imbalanced, from when each rank was ready. */
final class StepBalanceTest {
    private final StepBalance balance = new StepBalance(2);

    /** Both ranks have read nothing yet; the first step of each is not counted, for nobody knows when it began. */
    private void begin() {
        balance.ready(0, 0, 0);
        balance.ready(1, 0, 0);
        balance.ready(0, 1, 100);
        balance.ready(1, 1, 100);
        counted(0, 0);
    }

    private void counted(long steps, long imbalanced) {
        assertThat(balance.steps()).as("steps").isEqualTo(steps);
        assertThat(balance.imbalanced()).as("imbalanced").isEqualTo(imbalanced);
    }

    @Test
    void rankThatIsLateByATenthOfTheStep_isBalanced_andByMoreIsNot() {
        begin();
        balance.ready(0, 2, 190);
        counted(0, 0);
        balance.ready(1, 2, 200); // 10 of 100
        counted(1, 0);
        balance.ready(1, 3, 288);
        balance.ready(0, 3, 300); // 12 of 100
        counted(2, 1);
    }

    @Test
    void rankThatIsAhead_isJudgedWhenTheOtherComes() {
        begin();
        for (int step = 2; step <= 6; step++) {
            balance.ready(0, step, step * 10L);
        }
        counted(0, 0);
        for (int step = 2; step <= 6; step++) {
            balance.ready(1, step, 1000 + step * 100L);
        }
        counted(5, 5);
    }

    @Test
    void severalStepsAtOnce_wereReadyAtOnce() {
        begin();
        balance.ready(0, 4, 200);
        balance.ready(1, 4, 200);
        counted(3, 0);
    }

    @Test
    void rankThatIsTooFarAhead_isNotCounted() {
        begin();
        int far = StepBalance.MOST_AHEAD + 10;
        for (int step = 2; step <= far; step++) {
            balance.ready(0, step, step * 10L);
        }
        for (int step = 2; step <= far; step++) {
            balance.ready(1, step, 5000 + step * 10L);
        }
        counted(StepBalance.MOST_AHEAD - 1, StepBalance.MOST_AHEAD - 1);
    }

    @Test
    void rankThatWasLost_beginsAnew_whereverItIs() {
        begin();
        balance.ready(0, 2, 200);
        balance.ready(1, 2, 200);
        counted(1, 0);
        balance.lost(0);
        balance.ready(1, 3, 300);
        balance.ready(0, 40, 310);
        balance.ready(0, 41, 400);
        balance.ready(1, 41, 410);
        counted(1, 0);
        balance.ready(0, 42, 500);
        balance.ready(1, 42, 510);
        counted(2, 0);
    }

    private void bothUntil(int from, int to, long fromNs) {
        for (int step = from; step <= to; step++) {
            balance.ready(0, step, fromNs + step * 100L);
            balance.ready(1, step, fromNs + step * 100L);
        }
    }

    @Test
    void ranksThatGoBackToAnEarlierEpoch_areCountedThereAgain() {
        begin();
        bothUntil(2, 200, 0);
        counted(199, 0);
        balance.lost(0);
        balance.lost(1);
        bothUntil(10, 13, 100_000);
        counted(201, 0); // the first two are not, as at the beginning
        balance.ready(0, 14, 101_400);
        balance.ready(1, 14, 101_500);
        counted(202, 1);
    }

    @Test
    void rankThatGoesBackAlone_isNotComparedWithWhatTheOtherDidBefore() {
        begin();
        bothUntil(2, 200, 0);
        balance.lost(0);
        for (int step = 10; step < 210; step++) {
            balance.ready(0, step, 100_000 + step * 100L);
        }
        counted(199, 0);
        bothUntil(210, 213, 100_000);
        counted(201, 0);
    }

    @Test
    void rankThatIsFoundAFewStepsBack_isNotCountedTwice() {
        begin();
        bothUntil(2, 200, 0);
        balance.lost(0);
        balance.lost(1);
        bothUntil(190, 200, 100_000);
        counted(199, 0);
        bothUntil(201, 202, 100_000);
        counted(201, 0);
    }

    @Test
    void readThatIsTakenBack_changesNothing() {
        begin();
        balance.ready(0, 2, 200);
        balance.ready(0, 1, 210);
        balance.ready(0, 2, 220);
        balance.ready(1, 2, 200);
        counted(1, 0);
    }

    @Test
    void oneRank_hasNoBalance() {
        StepBalance alone = new StepBalance(1);
        for (int step = 0; step < 10; step++) {
            alone.ready(0, step, step);
        }
        assertThat(alone.steps()).isZero();
    }
}
