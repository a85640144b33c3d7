package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.RecordingArea;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Trainers that leave their order, or are lost from sight, and come back. */
final class JobRunAstrayTest extends JobRunFixture {
    private static final long SIX_SECONDS_NS = TimeUnit.SECONDS.toNanos(6);

    @Test
    void wrongSeed_isOutOfSyncAndCounted() throws Exception {
        JobRun run = start("seed=5 epochs=3 batch=16");
        read(run, LoaderOrder.of(epoch("seed=1234", 0, 0), BATCH, 2, 2, new Random(1)));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
        assertThat(run.progress().deviations()).isGreaterThan(SAMPLES / 2);
    }

    @Test
    void comesBackToTheOrder_inSyncAgainAtTheRightPlace() throws Exception {
        String line = "seed=5 epochs=4 batch=16";
        JobRun run = start(line);
        read(run, epoch(line, 0, 0).subList(0, 400));
        List<Integer> astray = new ArrayList<>(epoch("seed=99", 0, 0).subList(0, 300));
        read(run, astray);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
        read(run, LoaderOrder.of(epoch(line, 1, 0).subList(0, 640), BATCH, 2, 2, new Random(1)));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(1);
        assertThat(run.progress().position()).isBetween(640 - 4 * BATCH, 640);
    }

    @ParameterizedTest(name = "epoch {0} from sample {1}")
    @CsvSource({"0,480", "1,320", "2,640", "7,160"})
    void startedInMidRun_isFound(int epoch, int from) throws Exception {
        String line = "seed=5 epochs=9 batch=16 workers=4";
        JobRun run = start(line);
        List<Integer> rest = epoch(line, epoch, 0).subList(from, from + 320);
        read(run, LoaderOrder.of(rest, BATCH, 4, 2, new Random(2)));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(epoch);
        assertThat(run.progress().position()).isBetween(from + 320 - 10 * BATCH, from + 320);
    }

    @Test
    void startedInMidRun_whereSamplesRepeatOften_isFound() throws Exception {
        String line =
                "sampler=torch-generator replacement=true num_samples=" + 10 * SAMPLES + " seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        read(run, epoch(line, 0, 0).subList(8 * SAMPLES, 8 * SAMPLES + 320));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().position()).isBetween(8 * SAMPLES + 320 - 2 * BATCH, 8 * SAMPLES + 320);
    }

    @Test
    void wrongSeed_whereSamplesRepeatOften_isOutOfSync() throws Exception {
        String line = "sampler=torch-generator replacement=true num_samples=" + 10 * SAMPLES + " epochs=2 batch=16";
        JobRun run = start(line + " seed=5");
        read(run, epoch(line + " seed=1234", 0, 0).subList(0, 2 * SAMPLES));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
    }

    @Test
    void setEpochForgotten_isToldAndFollowed() throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        List<Integer> first = epoch(line, 0, 0);
        read(run, LoaderOrder.of(first, BATCH, 2, 2, new Random(1)));
        read(run, LoaderOrder.of(first, BATCH, 2, 2, new Random(2)).subList(0, 600));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
        assertThat(run.progress().astray()).isEqualTo(new JobProgress.Astray(0, 1));
        assertThat(run.progress().deviations()).isGreaterThan(400);
        assertThat(run.progress().position()).as("it follows nevertheless").isBetween(500, 600);
    }

    /** Reads are reported in lumps, and a search takes its time. */
    @Test
    void setEpochForgotten_isTold_howeverFarTheTrainerIsWhenItIsSearchedFor() throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        List<Integer> first = epoch(line, 0, 0);
        read(run, first);
        for (int sample : first.subList(0, 420)) {
            boolean _ = run.read(dataset.index.file(sample));
        }
        read(run, first.subList(420, 500));
        assertThat(run.progress().astray()).isEqualTo(new JobProgress.Astray(0, 1));
    }

    @Test
    void setEpochForgottenForThreeEpochs_isToldThroughout() throws Exception {
        String line = "seed=5 epochs=4 batch=16";
        JobRun run = start(line);
        List<Integer> first = epoch(line, 0, 0);
        for (int epoch = 0; epoch < 4; epoch++) {
            read(run, first);
            assertThat(run.progress().inSync()).as(run.progress().toString()).isEqualTo(epoch == 0);
        }
    }

    @Test
    void setEpochRemembered_inSyncAgain() throws Exception {
        String line = "seed=5 epochs=4 batch=16";
        JobRun run = start(line);
        read(run, epoch(line, 0, 0));
        read(run, epoch(line, 0, 0));
        read(run, epoch(line, 2, 0).subList(0, 600));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(2);
    }

    @Test
    void seedOffByOne_isFollowedButToldApart() throws Exception {
        JobRun run = start("seed=5 epochs=4 batch=16");
        for (int epoch = 0; epoch < 3; epoch++) {
            read(run, epoch("seed=6", epoch, 0));
            assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
        }
        assertThat(run.progress().astray()).isEqualTo(new JobProgress.Astray(1, 0));
        assertThat(run.progress().deviations()).isGreaterThan(SAMPLES / 2);
    }

    @Test
    void restartedFromTheBeginning_isFound() throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        read(run, epoch(line, 0, 0));
        read(run, epoch(line, 1, 0).subList(0, 700));
        read(run, epoch(line, 0, 0).subList(0, 300));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isZero();
    }

    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {1, 2})
    void whatIsReadDuringTheSearch_isNotLost(int ranks) throws Exception {
        String line = "seed=5 epochs=10 batch=4 world=" + ranks + (ranks > 1 ? " ranks=0-1" : "");
        List<Integer> last = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            for (int rank = 0; rank < ranks; rank++) {
                last.add(epoch(line, 9, rank).get(step));
            }
        }
        int found = 150 * ranks;
        List<Integer> meanwhile = last.subList(found, 280 * ranks);
        JobSpec spec = JobSpec.parse(line);
        Sampler sampler = spec.sampler(dataset.index);
        List<JobRun> run = new ArrayList<>();
        EpochOrders orders = new EpochOrders(
                epoch -> {
                    EpochOrder order = sampler.epoch(epoch);
                    if (epoch == 9 && !run.isEmpty()) { // the search looks here, where the trainer is
                        read(run.getFirst(), meanwhile);
                    }
                    return order;
                },
                SAMPLES,
                clock);
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        JobRun job = new JobRun(spec, dataset.index, dataset.tree, staging, orders, clock);
        run.add(job);
        read(job, last.subList(0, found));
        read(job, last.subList(280 * ranks, last.size()));
        assertThat(job.progress().epoch()).isEqualTo(9);
        assertThat(job.progress().position()).isEqualTo(300);
    }

    /** Where it was found is where it was when the search began. */
    @Test
    void resumedInALaterEpoch_isNotAstray_thoughItReadsDuringTheSearch() throws Exception {
        String line = "seed=5 epochs=10 batch=4";
        int memory = SyncDetector.memoryFor(SAMPLES);
        List<Integer> rest = epoch(line, 9, 0).subList(3 * memory, SAMPLES);
        JobSpec spec = JobSpec.parse(line);
        Sampler sampler = spec.sampler(dataset.index);
        List<JobRun> run = new ArrayList<>();
        EpochOrders orders = new EpochOrders(
                epoch -> {
                    EpochOrder order = sampler.epoch(epoch);
                    if (epoch == 9 && !run.isEmpty()) {
                        for (int sample : rest.subList(memory, 3 * memory)) {
                            boolean _ = run.getFirst().read(dataset.index.file(sample));
                        }
                    }
                    return order;
                },
                SAMPLES,
                clock);
        JobRun job = run(spec, orders);
        run.add(job);
        read(job, rest.subList(0, memory));
        read(job, rest.subList(3 * memory, 4 * memory));
        assertThat(job.progress().astray()).isNull();
        assertThat(job.progress().inSync()).as(job.progress().toString()).isTrue();
        assertThat(job.progress().epoch()).isEqualTo(9);
    }

    @Test
    void ordersOfOtherEpochsThatAreInvalid_areSearchedPast() throws Exception {
        String line = "seed=5 epochs=14 batch=16";
        JobSpec spec = JobSpec.parse(line);
        Sampler sampler = spec.sampler(dataset.index);
        EpochOrders orders = new EpochOrders(
                epoch -> {
                    if (epoch == 6) {
                        throw new InvalidSpecException("number 7 is out of range");
                    }
                    return sampler.epoch(epoch);
                },
                SAMPLES,
                clock);
        JobRun job = run(spec, orders);
        read(job, epoch(line, 8, 0).subList(0, 400));
        assertThat(job.progress().epoch()).isEqualTo(8);
    }

    @Test
    void reportsLost_theTrainerIsFoundAgain() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        List<Integer> order = epoch(line, 0, 0);
        read(run, order.subList(0, 200));
        for (int i = 0; i < 40; i++) {
            run.stream(0).nextToStage(1 << 20);
        }
        run.reportsLost(); // reads 200 to 300 are never reported
        read(run, order.subList(300, 700));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().position()).isBetween(690, 700);
    }

    @Test
    void reportsLostAgainAndAgain_theTrainerIsNotBlamedForAnEpochThatOnlyTheWindowHasLeft() throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        List<Integer> order = epoch(line, 0, 0);
        read(run, order.subList(0, 100));
        while (run.position() < AccessStream.position(1, 0)) { // each time, all that is staged may have been read
            while (run.stream(0).nextToStage(1 << 20) != null) {}
            run.reportsLost();
        }
        read(run, order.subList(100, 300));
        assertThat(run.progress().astray()).isNull();
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().position()).isBetween(290, 300);
        read(run, order.subList(300, SAMPLES));
        read(run, order.subList(0, 300));
        assertThat(run.progress().astray())
                .as("it does read the first epoch again")
                .isNotNull();
    }

    /** What is staged may have been read each time, so the windows run ahead of the trainer, and it is found behind them. */
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {1, 2})
    void reportsLostAgainAndAgain_theEpochIsNotTimedAnew(int ranks) throws Exception {
        String line = "seed=5 epochs=3 batch=16 world=" + ranks + (ranks > 1 ? " ranks=0-1" : "");
        List<Integer> order = new ArrayList<>();
        int length = SAMPLES / ranks;
        for (int step = 0; step < length; step++) {
            for (int rank = 0; rank < ranks; rank++) {
                order.add(epoch(line, 0, rank).get(step));
            }
        }
        JobRun run = start(line);
        int before = 100 * ranks;
        read(run, order.subList(0, before));
        while (run.position() < AccessStream.position(0, length - 60)) {
            for (int i = 0; i < 32; i++) {
                for (int rank = 0; rank < ranks; rank++) {
                    run.stream(rank).nextToStage(1 << 20);
                }
            }
            run.reportsLost();
        }
        read(run, order.subList(before, 400 * ranks));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().position()).isBetween(380, 400);
        EpochTime time = run.times().epochs().getFirst();
        assertThat(time.epoch()).isZero();
        assertThat(time.samples())
                .as("those before are not forgotten, and those until it was found are no more than a search takes")
                .isGreaterThan(250 * ranks);
    }

    @Test
    void trainerIsLost_onlyOnceASearchForItWasInVain() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        List<Integer> order = epoch(line, 0, 0);
        List<Integer> other = epoch("seed=77 batch=16", 0, 0);
        read(run, order.subList(0, 200));
        int next = 0;
        while (run.isInSync()) {
            run.read(dataset.index.file(other.get(next++)));
        }
        assertThat(run.isLost()).as("it is still to be searched for").isFalse();
        while (!run.wantsSearch()) {
            run.read(dataset.index.file(other.get(next++)));
        }
        assertThat(run.isLost()).isFalse();
        assertThat(run.search()).isFalse();
        assertThat(run.isLost()).isTrue();
        assertThat(run.searchNow()).isFalse();
        for (int sample : order.subList(600, 700)) { // the next search is not due
            run.read(dataset.index.file(sample));
        }
        assertThat(run.searchNow()).isTrue();
        assertThat(run.isLost()).isFalse();
        assertThat(run.progress().position()).isBetween(650, 700);
    }

    @Test
    void searchThatHasTakenTenSeconds_looksAtNoFurtherEpoch() throws Exception {
        String line = "seed=5 epochs=9 batch=16";
        long[] nowNs = {1};
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        JobRun run =
                new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, () -> nowNs[0] += SIX_SECONDS_NS);
        List<Integer> there = epoch(line, 7, 0);
        for (int step = 0; !run.wantsSearch(); step++) {
            run.read(dataset.index.file(there.get(step)));
        }
        assertThat(run.search()).isFalse();
        assertThat(run.isLost()).isTrue();
    }

    @Test
    void nobodySearches_theTrainerCountsAsLostAfterAWhile() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        read(run, epoch(line, 0, 0).subList(0, 200));
        for (int sample : epoch("seed=77 batch=16", 0, 0).subList(0, 200)) {
            run.read(dataset.index.file(sample));
        }
        assertThat(run.isLost()).isTrue();
    }
}
