package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.testing.RecordingArea;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Trainers that keep to their order: where they are, what is staged for them, and which samples they read next. */
final class JobRunTest extends JobRunFixture {
    @ParameterizedTest(name = "{0} workers")
    @CsvSource({"0", "1", "2", "4", "8"})
    void inSync_whateverTheNumberOfWorkers(int workers) throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        Random random = new Random(workers);
        for (int epoch = 0; epoch < 3; epoch++) {
            read(run, LoaderOrder.of(epoch(line, epoch, 0), BATCH, workers, 2, random));
            assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        }
        assertThat(run.progress().done()).isTrue();
        assertThat(run.progress().deviations()).isLessThanOrEqualTo(SAMPLES * 3 / 100);
    }

    /** Its trainer has read on since the position was written: a little, or into a later epoch. */
    @ParameterizedTest
    @CsvSource({"1, 500", "1, 1100", "2, 0", "3, 40", "3, 700"})
    void jobOfAnotherProcess_isFollowedFromWhereItsTrainerIs(int epoch, int step) throws Exception {
        String line = "seed=5 epochs=5 batch=16";
        JobRun run = goOn(line, AccessStream.position(500, 10));

        read(run, epoch(line, 0, 0).subList(0, SAMPLES / 2));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isZero();
    }

    @Test
    void orderThatIsStillBeingComputed_holdsUpNothingBeforeIt_andItsEpochFollows() throws Exception {
        String line = "seed=5 epochs=9 batch=16";
        JobSpec spec = JobSpec.parse(line);
        EpochOrders orders = new EpochOrders(spec.sampler(dataset.index), SAMPLES, System::nanoTime);
        JobRun run = run(spec, orders);
        List<Runnable> aside = new ArrayList<>();
        orders.computeAside(aside::add, () -> {});
        int known = Math.ceilDiv(StreamWindow.RECOGNISED_AHEAD, SAMPLES); // the window reached so far
        for (int epoch = 0; epoch < known; epoch++) {
            read(run, epoch(line, epoch, 0));
            run.prepareNextEpoch();
            assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        }
        assertThat(aside).hasSize(1);
        assertThat(run.stream(0).nextToStage(1 << 20)).isNull();
        assertThat(run.awaitedOrder()).contains("the order of epoch " + known + " is still being computed");
        assertThat(run.progress().done()).isFalse();

        aside.removeFirst().run();
        List<Integer> next = epoch(line, known, 0);
        StreamWindow.ToStage first = run.stream(0).nextToStage(1 << 20);
        assertThat(first).isNotNull();
        assertThat(first.file()).isEqualTo(dataset.index.file(next.getFirst()));
        assertThat(run.awaitedOrder()).isNull();
        read(run, next);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(known);
        run.close();
        assertThat(aside)
                .as("the order after it, which nobody waits for any more")
                .hasSize(1);
        aside.removeFirst().run();
        assertThat(run.stream(0).nextToStage(1 << 20)).isNull();
    }

    @Test
    void requestOfOneRank_movesNoOther_thoughTheOtherReadsTheFileInALaterEpoch() throws Exception {
        String line = "seed=3 epochs=3 batch=16 world=2 ranks=0-1";
        JobRun run = start(line);
        run.followByRequests();
        for (int sample : epoch(line, 0, 1).subList(0, 20)) {
            run.reached(dataset.index.file(sample));
        }
        assertThat(run.positions()[0]).isEqualTo(AccessStream.position(0, 0));
        assertThat(run.positions()[1]).isLessThanOrEqualTo(AccessStream.position(0, 20));
    }

    @Test
    void startStep_countsStepsOfARank_whereTheLoaderSplitsBatches() throws Exception {
        JobRun run = start("sampler=accelerate world=2 ranks=0 batch=16 split_batches=true start_step=3");
        assertThat(run.positions()).containsExactly(AccessStream.position(0, 24));
    }

    @Test
    void epochThatARunSkipsWhole_isFollowedByTheNext_andNothingAtAllIsTheEnd() throws Exception {
        JobRun resumed = start("seed=1 batch=4 skip_batches=1000");
        assertThat(resumed.positions()).containsExactly(AccessStream.position(1, 0));
        JobRun empty = start("sampler=torch-generator seed=1 batch=4096 drop_last=true");
        assertThat(empty.progress().done()).isTrue();
        assertThat(empty.progress().length()).isZero();
    }

    @Test
    void loadersThatReachNotFar_everyReadIsTickedOff() throws Exception {
        String line = "seed=5 epochs=2 batch=4 workers=0";
        JobRun run = start(line);
        for (int epoch = 0; epoch < 2; epoch++) {
            read(run, epoch(line, epoch, 0));
            assertThat(run.progress().epoch()).isEqualTo(epoch + 1);
            assertThat(run.progress().position()).isZero();
        }
        assertThat(run.progress().done()).isTrue();
    }

    @Test
    void asked_waitsForNobody_andIsHeededWithTheNextPositionThatIsStaged() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        List<Integer> order = epoch(line, 0, 0);
        Thread reader = new Thread(() -> run.asked(dataset.index.file(order.getFirst()), _ -> false));
        synchronized (run) { // as a loader does that takes a position
            reader.start();
            reader.join(TimeUnit.SECONDS.toMillis(60));
            assertThat(reader.isAlive()).isFalse();
        }
        StreamWindow.ToStage next = run.stream(0).nextToStage(Long.MAX_VALUE);
        assertThat(next).isNotNull();
        assertThat(next.file()).isEqualTo(dataset.index.file(order.get(1)));
    }

    @Test
    void stepsAfterAResumedEpoch_areCountedOnce() throws Exception {
        String line = "seed=5 epochs=3 batch=16 world=2 ranks=0-1 skip_batches=";
        int steps = Math.ceilDiv(SAMPLES / 2, BATCH);
        int skipped = steps - 3;
        long[] nowMs = {1};
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        JobRun run = new JobRun(
                JobSpec.parse(line + skipped), dataset.index, dataset.tree, staging, () -> nowMs[0] * 1_000_000);
        for (int epoch = 0; epoch < 3; epoch++) {
            List<List<Integer>> orders = List.of(
                    epoch(line + (epoch == 0 ? skipped : 0), epoch, 0),
                    epoch(line + (epoch == 0 ? skipped : 0), epoch, 1));
            for (int from = 0; from < orders.getFirst().size(); from += BATCH) {
                for (List<Integer> order : orders) {
                    read(run, order.subList(from, Math.min(order.size(), from + BATCH)));
                }
                nowMs[0] += 100;
            }
        }
        assertThat(run.progress().done()).isTrue();
        assertThat(run.balance().steps())
                .as("of %d: not the first, nor the last", 3 + 2 * steps)
                .isEqualTo(3 + 2L * steps - 2);
    }

    @ParameterizedTest(name = "rank 1 is {0} ms late in steps of 100 ms")
    @CsvSource({"5, false", "12, true"})
    void stepsOfTwoRanks_areCountedByWhenBothHadTheirBatches(long lateMs, boolean imbalanced) throws Exception {
        String line = "seed=5 epochs=2 batch=16 world=2 ranks=0-1";
        long[] nowMs = {1};
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        JobRun run = new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, () -> nowMs[0] * 1_000_000);
        int steps = Math.ceilDiv(SAMPLES / 2, BATCH);
        for (int epoch = 0; epoch < 2; epoch++) {
            for (int step = 0; step < steps; step++) {
                for (int rank = 0; rank < 2; rank++) {
                    List<Integer> order = epoch(line, epoch, rank);
                    nowMs[0] += rank * lateMs;
                    read(run, order.subList(step * BATCH, Math.min(order.size(), (step + 1) * BATCH)));
                }
                nowMs[0] += 100 - lateMs;
            }
        }
        assertThat(run.progress().done()).isTrue();
        assertThat(run.balance().steps())
                .as("of %d: not the first, nor the last, after which all is read", 2 * steps)
                .isEqualTo(2L * steps - 2);
        assertThat(run.balance().imbalanced()).isEqualTo(imbalanced ? 2L * steps - 2 : 0);
    }

    @Test
    void severalRanksOnOneNode_areEachFollowed() throws Exception {
        String line = "seed=3 epochs=2 batch=16 world=4 ranks=1-2";
        JobRun run = start(line);
        List<Integer> one = epoch(line, 0, 1);
        List<Integer> two = epoch(line, 0, 2);
        List<Integer> both = new ArrayList<>();
        for (int i = 0; i < one.size(); i++) {
            Collections.addAll(both, one.get(i), two.get(i));
        }
        read(run, both);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(1);
        assertThat(run.progress().deviations()).isZero();
    }

    @Test
    void crossesTheEpochBoundary_stagingTheNextEpochBeforeTheLastEnds() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        List<Integer> first = epoch(line, 0, 0);
        List<Integer> second = epoch(line, 1, 0);
        read(run, first.subList(0, SAMPLES - 20));
        List<Integer> staged = new ArrayList<>();
        StreamWindow.ToStage next;
        while ((next = run.stream(0).nextToStage(1 << 20)) != null) {
            staged.add(dataset.index.sampleOf(next.file()));
        }
        List<Integer> expected = new ArrayList<>(first.subList(SAMPLES - 20, SAMPLES));
        expected.addAll(second.subList(0, 60));
        assertThat(staged).isSubsetOf(expected).hasSizeGreaterThan(50);
        assertThat(staged.subList(0, 20)).isEqualTo(first.subList(SAMPLES - 20, SAMPLES));
    }

    @Test
    void repeatedly_neverMoreStagedThanTheBufferHolds() throws IOException, InvalidSpecException {
        JobRun run = start("seed=8 epochs=2 batch=16");
        int staged = 0;
        while (run.stream(0).nextToStage(1 << 20) != null) {
            staged++;
        }
        assertThat(staged).isEqualTo(64);
    }

    private static SampleLocation.@Nullable NextUse nextUse(JobRun run, int file) throws InvalidSpecException {
        return run.nextUse(file, run.orders()::peek);
    }

    @Test
    void nextUse_isTheNextTimeThatARankHereReadsTheSample() throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        List<Integer> first = epoch(line, 0, 0);
        List<Integer> second = epoch(line, 1, 0);
        int sample = first.get(700);
        int file = dataset.index.file(sample);
        assertThat(nextUse(run, file)).isEqualTo(new SampleLocation.NextUse("train", 0, 0, 700, 700));
        read(run, first.subList(0, 700));
        assertThat(nextUse(run, file)).isEqualTo(new SampleLocation.NextUse("train", 0, 0, 700, 0));
        read(run, first.subList(700, 800));
        int again = second.indexOf(sample);
        assertThat(nextUse(run, file))
                .isEqualTo(new SampleLocation.NextUse("train", 0, 1, again, SAMPLES - 800 + again));
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void nextUse_overSeveralRanks_isTheNearestOfAll(long seed) throws Exception {
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        String line = "seed=" + seed + " epochs=3 batch=16 world=4 ranks=1-3 name=several";
        JobRun run = start(line);
        List<List<Integer>> streams = new ArrayList<>();
        for (int rank = 1; rank <= 3; rank++) {
            List<Integer> stream = new ArrayList<>();
            for (int epoch = 0; epoch < 3; epoch++) {
                stream.addAll(epoch(line, epoch, rank));
            }
            streams.add(stream);
        }
        int length = SAMPLES / 4;
        int[] at = new int[3];
        for (int look = 0; look < 20; look++) {
            for (int rank = 0; rank < 3; rank++) {
                int to = Math.min(3 * length, at[rank] + random.nextInt(2 * length / 20));
                read(run, streams.get(rank).subList(at[rank], to));
                at[rank] = to;
            }
            for (int n = 0; n < 50; n++) {
                int sample = random.nextInt(SAMPLES);
                SampleLocation.NextUse nearest = null;
                for (int rank = 0; rank < 3; rank++) {
                    int ahead = streams.get(rank).subList(at[rank], 3 * length).indexOf(sample);
                    if (ahead >= 0 && (nearest == null || ahead < nearest.samplesBefore())) {
                        int position = at[rank] + ahead;
                        nearest = new SampleLocation.NextUse(
                                "several", rank + 1, position / length, position % length, ahead);
                    }
                }
                assertThat(nextUse(run, dataset.index.file(sample)))
                        .as("sample %d, read %s", sample, Arrays.toString(at))
                        .isEqualTo(nearest);
            }
        }
    }

    @Test
    void nextUse_ofASampleThatIsNeverReadAgain_isNone() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        read(run, epoch(line, 0, 0));
        read(run, epoch(line, 1, 0).subList(0, 600));
        assertThat(nextUse(run, dataset.index.file(epoch(line, 1, 0).get(300)))).isNull();
        assertThat(nextUse(run, dataset.index.file(epoch(line, 1, 0).get(900))))
                .isEqualTo(new SampleLocation.NextUse("train", 0, 1, 900, 300));
        read(run, epoch(line, 1, 0).subList(600, SAMPLES));
        assertThat(nextUse(run, dataset.index.file(epoch(line, 1, 0).get(900)))).isNull();
    }

    @Test
    void nextUse_ofAFileThatIsNoSample_isNone() throws Exception {
        assertThat(nextUse(start("seed=5 epochs=2"), dataset.tree.entryCount())).isNull();
    }
}
