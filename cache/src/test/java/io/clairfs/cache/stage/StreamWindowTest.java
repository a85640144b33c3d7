package io.clairfs.cache.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What lies before one trainer: how much of it is staged, and what comes next. Samples have 100 bytes and are read in order. */
final class StreamWindowTest {
    private static final int SAMPLES = 20;
    private static final long SIZE = 100;
    private static final long NO_SHARE = Long.MAX_VALUE;

    private final FakeDataset dataset;
    private final RecordingArea area = new RecordingArea();
    private final StagingBuffer staging = new StagingBuffer(area, 10 * SIZE, 100);
    private final StreamWindow window;

    StreamWindowTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
        window = window(2);
    }

    private StreamWindow window(int epochs) throws InvalidSpecException {
        EpochOrders orders =
                new EpochOrders(JobSpec.parse("sampler=sequential").sampler(dataset.index), SAMPLES, System::nanoTime);
        return new StreamWindow(new AccessStream(orders, 0, epochs), dataset.index, dataset.tree, staging, 0);
    }

    private StreamWindow.ToStage next() throws InvalidSpecException {
        StreamWindow.ToStage next = window.nextToStage(NO_SHARE);
        assertThat(next).isNotNull();
        staging.drop(next.leaving());
        return next;
    }

    private void stage(StreamWindow.ToStage what) throws IOException {
        try (StagingBuffer.Loading loading = staging.load(what.place(), what.leaving())) {
            if (loading.isMine()) {
                SampleBuffer sample = SampleBuffer.allocate(SIZE);
                loading.stage(sample);
                sample.release();
            }
        }
    }

    private int stagedAhead() {
        return new StagedCount(List.of(window), () -> 0).samples();
    }

    private void stageNext(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            stage(next());
        }
    }

    /** The reads at these steps of the first epoch. */
    private void read(int... steps) throws InvalidSpecException {
        for (int step : steps) {
            StreamWindow.Slot slot = window.nearest(dataset.file(step), window.headSequence());
            assertThat(slot).isNotNull();
            window.read(slot.sequence);
        }
    }

    private List<Integer> toStage(int most) {
        List<Integer> samples = new ArrayList<>();
        window.forEachToStage(most, file -> samples.add(dataset.index.sampleOf(file)));
        return samples;
    }

    @Test
    void readyAhead_countsWhatIsStaged_upToTheFirstThatIsNot() throws Exception {
        assertThat(window.readyAhead(5)).isZero();
        stageNext(2);
        StreamWindow.ToStage late = next();
        stageNext(2);
        assertThat(window.readyAhead(5)).isEqualTo(2);
        assertThat(stagedAhead()).isEqualTo(4);
        assertThat(window.underWay()).isEqualTo(5);
        stage(late);
        assertThat(window.readyAhead(5)).isEqualTo(5);
        assertThat(window.readyAhead(3)).as("no more than asked for").isEqualTo(3);
    }

    @Test
    void trainerThatCaughtUp_isLeftTheNextThatAreInMemory_andStagingGoesOnBehindThem() throws Exception {
        stageNext(2);
        StreamWindow.ToStage late = next();
        long asked = window.headSequence() + 2;
        int far = dataset.file(7);
        window.asked(asked, file -> file != far);
        assertThat(staging.load(late.place(), late.leaving()).isMine())
                .as("the reader gets it himself")
                .isFalse();
        assertThat(next().file()).as("the first that is not in memory").isEqualTo(far);
        assertThat(next().file()).isEqualTo(dataset.file(8));
        read(0, 1, 2, 3, 4, 5, 6);
        assertThat(window.headSequence()).isEqualTo(asked + 5);
    }

    @Test
    void smallerShare_letsGoWhatIsFarthestAhead_andItIsStagedAgainLater() throws Exception {
        stageNext(10);
        assertThat(staging.reserve(dataset.file(15), SIZE, new ArrayList<>())).isNull();
        assertThat(window.nextToStage(3 * SIZE)).isNull();
        assertThat(stagedAhead()).isEqualTo(3);
        assertThat(toStage(2)).containsExactly(3, 4);
        List<StagingBuffer.Place> leaving = new ArrayList<>();
        assertThat(staging.reserve(dataset.file(15), SIZE, leaving)).isNotNull();
        staging.drop(leaving);
        read(0);
        StreamWindow.ToStage next = window.nextToStage(3 * SIZE);
        assertThat(stagedAhead()).isEqualTo(3);
        assertThat(next).as("it is still staged").isNull();
    }

    @Test
    void trainerThatAsksForOneSample_isLeftNoneThatIsStagedNorBehindIt() throws Exception {
        stageNext(2);
        StreamWindow.ToStage missed = next();
        stageNext(1);
        window.asked(window.headSequence() + 2, _ -> true);
        assertThat(staging.load(missed.place(), missed.leaving()).isMine()).isFalse();
        assertThat(toStage(2)).containsExactly(4, 5);
    }

    @Test
    void samplesThatATrainerAskedFor_andThatNobodyElseWants_areNotPushedAnyMore() throws Exception {
        StreamWindow.ToStage next = next();
        try (StagingBuffer.Loading loading = staging.load(next.place(), next.leaving())) {
            assertThat(loading.isWanted()).isTrue();
            window.asked(window.headSequence(), _ -> false);
            assertThat(loading.isWanted()).isFalse();
        }
        assertThat(staging.samples()).isZero();
        assertThat(next().file()).isEqualTo(dataset.file(1));
    }

    @Test
    void positionThatIsUnreadAfterAll_isStagedBeforeThoseBehindIt_whichMakeRoom() throws Exception {
        stageNext(10); // there is room for so many
        long first = window.headSequence();
        read(0, 1);
        stageNext(2);
        assertThat(window.nextToStage(NO_SHARE)).as("all the room is wanted").isNull();
        window.unread(first);
        StreamWindow.ToStage again = next();
        assertThat(again.file()).isEqualTo(dataset.file(0));
        stage(again);
        assertThat(window.readyAhead(20)).as("0 and 2 to 10; 1 is read").isEqualTo(10);
        assertThat(stagedAhead()).isEqualTo(10);
        assertThat(window.nextToStage(NO_SHARE)).as("11 has given its room").isNull();
        read(0);
        assertThat(next().file()).isEqualTo(dataset.file(11));
    }

    @Test
    void positionsThatAreUnreadAfterAll_inAnyOrder_areFoundAndStagedAgain() throws Exception {
        stageNext(10); // there is room for so many
        long first = window.headSequence();
        read(0, 1, 2, 3, 4);
        stageNext(5);
        for (int step : new int[] {2, 0, 3}) {
            window.unread(first + step);
        }
        for (int step : new int[] {0, 2, 3}) {
            StreamWindow.Slot slot = Objects.requireNonNull(window.nearest(dataset.file(step), first));
            assertThat(slot.sequence).isEqualTo(first + step);
            assertThat(slot.isRead()).isFalse();
            StreamWindow.ToStage again = next();
            assertThat(again.file()).isEqualTo(dataset.file(step));
            stage(again);
        }
        read(0, 2, 3);
        assertThat(window.headSequence()).isEqualTo(first + 5);
        StreamWindow.Slot next = Objects.requireNonNull(window.nearest(dataset.file(2), first));
        assertThat(next.sequence).as("the next epoch's").isEqualTo(first + 2 + SAMPLES);
    }

    @Test
    void lostSamples_areStagedAgainInTheOrderOfTheirReads_whenEverTheyWereMissed() throws Exception {
        stageNext(8);
        List<StreamWindow.StagedPosition> staged = window.stagedFrom(0, 8);
        for (int missed : new int[] {6, 7, 1, 3}) {
            area.lose(dataset.file(missed));
            assertThat(staging.isLost(staged.get(missed).place())).isTrue();
            window.stageAgain(staged.get(missed).sequence());
        }
        for (int expected : new int[] {1, 3, 6, 7}) {
            StreamWindow.ToStage next = next();
            assertThat(next.file()).isEqualTo(dataset.file(expected));
            stage(next);
        }
        assertThat(window.readyAhead(8)).isEqualTo(8);
    }

    @Test
    void samplesThatAreReadTwiceAhead_areStagedOnce() throws Exception {
        StagingBuffer roomy = new StagingBuffer(new RecordingArea(), 2 * SAMPLES * SIZE, 2 * SAMPLES);
        EpochOrders orders =
                new EpochOrders(JobSpec.parse("sampler=sequential").sampler(dataset.index), SAMPLES, System::nanoTime);
        StreamWindow both = new StreamWindow(new AccessStream(orders, 0, 2), dataset.index, dataset.tree, roomy, 0);
        for (int i = 0; i < SAMPLES; i++) {
            StreamWindow.ToStage next = both.nextToStage(NO_SHARE);
            assertThat(next).isNotNull();
            try (StagingBuffer.Loading loading = roomy.load(next.place(), next.leaving())) {
                assertThat(loading.isMine()).isTrue();
                SampleBuffer sample = SampleBuffer.allocate(SIZE);
                loading.stage(sample);
                sample.release();
            }
        }
        assertThat(both.nextToStage(NO_SHARE)).as("nothing is left to do").isNull();
        assertThat(both.readyAhead(3 * SAMPLES)).isEqualTo(2 * SAMPLES);
        assertThat(new StagedCount(List.of(both), () -> 0).samples()).isEqualTo(SAMPLES);
    }

    @Test
    void readyAhead_passesOverWhatHasBeenRead() throws Exception {
        stageNext(5);
        read(0, 2);
        assertThat(window.readyAhead(10)).isEqualTo(3);
        read(1, 3, 4);
        assertThat(window.readyAhead(10)).isZero();
        assertThat(stagedAhead()).isZero();
    }

    @Test
    void readyAhead_endsAtASampleThatWasReadBeforeItWasStaged_notAtAll() throws Exception {
        read(1);
        stageNext(3);
        assertThat(window.readyAhead(10)).as("samples 0, 2 and 3").isEqualTo(3);
    }

    @Test
    void isHungry_whileLessThanThatIsStagedOrOnItsWay() throws Exception {
        assertThat(window.isHungry(1)).isTrue();
        stageNext(2);
        next();
        assertThat(window.isHungry(3 * SIZE + 1)).isTrue();
        assertThat(window.isHungry(3 * SIZE)).isFalse();
        read(0);
        assertThat(window.isHungry(3 * SIZE)).isTrue();
    }

    @Test
    void isHungry_notWhenNothingIsLeftToStage() throws Exception {
        for (int step = 0; step < 2 * SAMPLES; step++) {
            assertThat(window.isHungry(NO_SHARE)).as("step " + step).isTrue();
            stageNext(1);
            window.read(window.headSequence());
        }
        assertThat(window.isHungry(NO_SHARE)).isFalse();
        assertThat(window.position()).isEqualTo(AccessStream.END);
    }

    @Test
    void forEachToStage_namesWhatComesNext_leavingOutWhatHasBeenRead() throws Exception {
        assertThat(toStage(3)).containsExactly(0, 1, 2);
        stageNext(2);
        assertThat(toStage(3)).containsExactly(2, 3, 4);
        read(3);
        assertThat(toStage(3)).containsExactly(2, 4, 5);
        assertThat(toStage(0)).isEmpty();
        List<Integer> rest = new ArrayList<>(List.of(2));
        IntStream.range(4, SAMPLES).forEach(rest::add);
        IntStream.range(0, SAMPLES).forEach(rest::add);
        assertThat(toStage(1000)).as("across the end of the epoch").isEqualTo(rest);
    }

    @Test
    void forEachToStage_namesWhatNextToStageThenGives() throws Exception {
        read(1, 4);
        List<Integer> named = toStage(6);
        List<Integer> given = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            given.add(dataset.index.sampleOf(next().file()));
        }
        assertThat(given).isEqualTo(named).containsExactly(0, 2, 3, 5, 6, 7);
    }

    @Test
    void share_boundsWhatIsStagedAndUnread_butNeverBelowOneSample() throws Exception {
        assertThat(window.nextToStage(SIZE / 2)).as("one always").isNotNull();
        assertThat(window.nextToStage(2 * SIZE - 1)).isNull();
        assertThat(window.nextToStage(2 * SIZE)).isNotNull();
        assertThat(window.nextToStage(2 * SIZE)).isNull();
        read(0);
        assertThat(window.nextToStage(2 * SIZE)).isNotNull();
    }

    /** A window over a buffer that has few places for samples and bytes for many more. */
    private StreamWindow overFewPlaces(StagingBuffer fewPlaces) throws InvalidSpecException {
        EpochOrders orders =
                new EpochOrders(JobSpec.parse("sampler=sequential").sampler(dataset.index), SAMPLES, System::nanoTime);
        return new StreamWindow(new AccessStream(orders, 0, 2), dataset.index, dataset.tree, fewPlaces, 0);
    }

    @Test
    void isHungry_whileLessThanThatPartOfThePlacesIsTaken_whereSamplesAreSmall() throws Exception {
        StagingBuffer fewPlaces = new StagingBuffer(area, 100 * SIZE, 10);
        StreamWindow small = overFewPlaces(fewPlaces);
        for (int staged = 0; staged < 5; staged++) {
            assertThat(small.isHungry(50 * SIZE)).as(staged + " of 5 places").isTrue();
            assertThat(small.nextToStage(100 * SIZE)).isNotNull();
        }
        assertThat(small.isHungry(50 * SIZE)).isFalse();
        assertThat(small.isHungry(60 * SIZE)).isTrue();
    }

    // Promise J7
    @Test
    void share_isOfThePlacesToo_soSmallSamplesOfOneJobLeaveRoomForAnother() throws Exception {
        StagingBuffer fewPlaces = new StagingBuffer(area, 100 * SIZE, 10);
        StreamWindow first = overFewPlaces(fewPlaces);
        int staged = 0;
        while (first.nextToStage(100 * SIZE) != null) {
            staged++;
        }
        assertThat(staged).as("all places").isEqualTo(10);
        StreamWindow second = overFewPlaces(fewPlaces);
        second.jump(AccessStream.position(0, 10));
        assertThat(second.nextToStage(50 * SIZE)).isNull();
        assertThat(first.nextToStage(50 * SIZE))
                .as("it lets go of what is beyond its share")
                .isNull();
        assertThat(first.underWay()).isEqualTo(5);
        while (second.nextToStage(50 * SIZE) != null) {}
        assertThat(second.underWay()).isEqualTo(5);
    }

    @Test
    void closed_nothingIsStagedWantedOrNamed() throws Exception {
        stageNext(4);
        window.close();
        assertThat(window.readyAhead(10)).isZero();
        assertThat(window.underWay()).isZero();
        assertThat(window.isHungry(NO_SHARE)).isFalse();
        assertThat(toStage(5)).isEmpty();
    }

    @Test
    void jumped_whatWasStagedIsLetGo_andStagingGoesOnFromThere() throws Exception {
        stageNext(4);
        window.jump(AccessStream.position(1, 5));
        assertThat(window.readyAhead(10)).isZero();
        assertThat(window.underWay()).isZero();
        assertThat(window.position()).isEqualTo(AccessStream.position(1, 5));
        assertThat(toStage(2)).containsExactly(5, 6);
    }

    @Test
    void endlessJobOverSmallSamples_isStagedOnlySoFarAhead() throws Exception {
        StagingBuffer roomy = new StagingBuffer(new RecordingArea(), 2 * SAMPLES * SIZE, 2 * SAMPLES);
        EpochOrders orders =
                new EpochOrders(JobSpec.parse("sampler=sequential").sampler(dataset.index), SAMPLES, System::nanoTime);
        AccessStream endless = new AccessStream(orders, 0, JobSpec.UNLIMITED);
        StreamWindow ahead = new StreamWindow(endless, dataset.index, dataset.tree, roomy, 0);
        int staged = 0;
        while (staged <= 2 * StreamWindow.RECOGNISED_AHEAD && ahead.nextToStage(NO_SHARE) != null) {
            staged++;
        }
        assertThat(staged).isEqualTo(StreamWindow.RECOGNISED_AHEAD);
        assertThat(ahead.isHungry(NO_SHARE)).isFalse();
        ahead.read(ahead.headSequence());
        assertThat(ahead.isHungry(NO_SHARE)).isTrue();
        assertThat(ahead.nextToStage(NO_SHARE)).isNotNull();
        assertThat(ahead.nextToStage(NO_SHARE)).isNull();
    }
}
