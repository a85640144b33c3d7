package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import org.junit.jupiter.api.Test;

/** Whether the epoch in which a trainer is found is the one that its job says, and what is known after reports of reads were lost. */
final class EpochDriftDetectorTest {
    private static final int MEMORY = 16;
    private static final int LENGTH = 1000;
    private static final long MANY_READS = 100_000;

    private final EpochDriftDetector detector;

    EpochDriftDetectorTest() throws Exception {
        detector = new EpochDriftDetector(JobSpec.parse("seed=1 epochs=9"), MEMORY, false);
    }

    private void found(long from, long to) {
        detector.found(from, to, 0, LENGTH, MANY_READS, MEMORY);
    }

    /** The trainer reads epoch 2 again in place of epoch 3. */
    private void readsTheLastEpochAgain() {
        found(AccessStream.position(3, 0), AccessStream.position(2, 10));
        detector.searched();
        assertThat(detector.astray()).isEqualTo(new JobProgress.Astray(2, 3));
    }

    @Test
    void lastEpochOnceMore_isAstray_itsMiddleIsNot() {
        readsTheLastEpochAgain();
        found(AccessStream.position(2, 10), AccessStream.position(2, 2 * MEMORY + 1));
        assertThat(detector.astray()).isNull();
    }

    /** Reads come in lumps, and the search takes its time: a trainer that only reads may be far when it is found. */
    @Test
    void lastEpochOnceMore_isAstray_howeverFarTheTrainerIsWhenItIsFound_unlessItBeganInTheMiddle() {
        detector.found(AccessStream.position(3, 0), AccessStream.position(2, 400), 300, LENGTH, MANY_READS, MEMORY);
        assertThat(detector.astray()).isNull();
        detector.found(AccessStream.position(3, 0), AccessStream.position(2, 400), 390, LENGTH, MANY_READS, MEMORY);
        assertThat(detector.astray()).isEqualTo(new JobProgress.Astray(2, 3));
    }

    /** It is found by its last reads, so where these begin says nothing without their number. */
    @Test
    void trainerThatGoesOnInTheMiddle_isNotAstray_howeverLateItIsFound() {
        int begins = 2 * MEMORY + 8;
        for (int reads : new int[] {5, MEMORY, 100}) {
            int there = Math.min(reads, MEMORY);
            long first = AccessStream.position(2, begins + reads - there);
            detector.found(AccessStream.position(3, 0), first, reads, LENGTH, MANY_READS, there);
            assertThat(detector.astray()).as("after %d reads", reads).isNull();
        }
    }

    @Test
    void reportsLost_aTrainerThatWasAstrayStillIs_whereverInTheEpochItIsFound() {
        readsTheLastEpochAgain();
        detector.reportsLost();
        assertThat(detector.isUnknown()).isTrue();
        found(AccessStream.position(3, 200), AccessStream.position(2, LENGTH / 2));
        assertThat(detector.astray()).isEqualTo(new JobProgress.Astray(2, 3));
    }

    @Test
    void reportsLost_noRankThatOneSearchFindsIsBlamed_butThoseOfTheNextAre() {
        detector.reportsLost();
        for (int rank = 0; rank < 2; rank++) {
            found(AccessStream.position(3, 0), AccessStream.position(2, 10));
            assertThat(detector.astray()).as("rank " + rank).isNull();
            assertThat(detector.isUnknown()).isTrue();
        }
        detector.searched();
        assertThat(detector.isUnknown()).isFalse();
        readsTheLastEpochAgain();
    }

    @Test
    void searchInVain_nothingIsKnownAfterIt() {
        detector.reportsLost();
        detector.searched();
        assertThat(detector.isUnknown()).isTrue();
    }

    @Test
    void reportsLostWhileASearchMovesTheRanks_nothingIsKnownAfterIt() {
        found(AccessStream.position(0, 0), AccessStream.position(0, 500));
        detector.reportsLost();
        detector.searched();
        assertThat(detector.isUnknown()).isTrue();
    }

    @Test
    void readsInOrderAgain_itIsKnownWhereTheTrainerIs() {
        detector.reportsLost();
        for (int read = 0; read <= MEMORY; read++) {
            detector.read(0, true);
        }
        assertThat(detector.isUnknown()).isFalse();
    }
}
