package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads in the order of names: of others beside the trainer, and of the trainer itself. */
final class JobRunPassesTest extends JobRunFixture {
    @Test
    void extraReaderInNameOrder_isCountedAndTheTrainerStillFollowed() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        List<Integer> trainer = epoch(line, 0, 0);
        for (int i = 0; i < 600; i++) {
            read(run, List.of(trainer.get(i), i));
        }
        assertThat(run.progress().deviations()).isGreaterThan(300);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        read(run, trainer.subList(600, 1000));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().position()).isBetween(960, 1000);
    }

    @ParameterizedTest(name = "{0} samples, batch {1}, {2} workers, {3} reads of the other for one of the trainer")
    @CsvSource({
        "100,4,0,4",
        "100,4,2,1",
        "200,8,2,1",
        "200,8,4,7",
        "400,16,2,3",
        "700,8,3,1",
        "1200,16,4,2",
        "3000,16,4,5"
    })
    void passInNameOrder_movesTheTrainerNowhere(int samples, int batch, int workers, int others, @TempDir Path where)
            throws Exception {
        try (SmallDataset small = new SmallDataset(where, samples, 10, 1)) {
            String line = "seed=5 epochs=3 batch=" + batch + (workers == 0 ? "" : " workers=" + workers);
            StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
            JobRun run = new JobRun(JobSpec.parse(line), small.index, small.tree, staging, clock);
            passOver(run, small, 0, samples); // before the trainer begins
            expectAt(run, 0, 0);
            int other = 0;
            for (int epoch = 0; epoch < 3; epoch++) {
                EpochOrder order = JobSpec.parse(line).sampler(samples).epoch(epoch);
                List<Integer> reads = new ArrayList<>();
                for (int step = 0; step < samples; step++) {
                    reads.add(order.sample(0, step));
                }
                List<Integer> loaded = LoaderOrder.of(reads, batch, workers, 2, new Random(epoch));
                for (int i = 0; i < samples; i++) {
                    readAndSearch(run, small, loaded.get(i));
                    if (i > samples / 4 && i < samples / 2) { // beside it
                        for (int n = 0; n < others; n++) {
                            readAndSearch(run, small, other++ % samples);
                        }
                    }
                    if (i == samples / 2 + samples / 8) { // while it pauses
                        JobProgress before = run.progress();
                        passOver(run, small, 0, samples);
                        assertThat(run.progress().position()).isEqualTo(before.position());
                        assertThat(run.progress().epoch()).isEqualTo(epoch);
                        assertThat(run.progress().inSync()).isTrue();
                    }
                }
                passOver(run, small, 0, samples); // between epochs
                expectAt(run, epoch + 1, 0);
            }
            assertThat(run.progress().done()).isTrue();
            assertThat(run.progress().deviations()).isGreaterThan(4L * samples);
            assertThat(run.times().epochs())
                    .extracting(EpochTime::samples)
                    .hasSize(3)
                    .allSatisfy(seen -> assertThat(seen)
                            .as("a read of the trainer may look like one of the pass")
                            .isBetween(samples - 2, samples));
        }
    }

    private static void passOver(JobRun run, SmallDataset small, int from, int to) throws InvalidSpecException {
        for (int sample = from; sample < to; sample++) {
            readAndSearch(run, small, sample);
        }
    }

    private static void readAndSearch(JobRun run, SmallDataset small, int sample) throws InvalidSpecException {
        run.read(small.index.file(sample));
        if (run.wantsSearch()) {
            run.search();
        }
    }

    private static void expectAt(JobRun run, int epoch, int position) throws InvalidSpecException {
        assertThat(run.progress().epoch()).as(run.progress().toString()).isEqualTo(epoch);
        assertThat(run.progress().position()).as(run.progress().toString()).isEqualTo(position);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
    }

    @Test
    void samplesThatAPassSeemedToHaveUsed_areStagedAgain() throws Exception {
        String line = "seed=5 epochs=1 batch=16";
        JobRun run = start(line);
        List<Integer> order = epoch(line, 0, 0);
        int first = order.indexOf(0); // where the first samples of the pass are to be read
        read(run, order.subList(0, first - 20));
        while (run.stream(0).nextToStage(1 << 20) != null) {}
        read(run, List.of(0, 1, 2, 3, 4, 5, 6, 7));
        read(run, order.subList(first - 20, first));
        List<Integer> staged = new ArrayList<>();
        StreamWindow.ToStage next;
        while ((next = run.stream(0).nextToStage(1 << 20)) != null) {
            staged.add(dataset.index.sampleOf(next.file()));
        }
        assertThat(staged.getFirst()).isZero();
        assertThat(run.progress().position()).isEqualTo(first);
    }

    @Test
    void passThatSeemsToGoOnFromTheTrainer_undoesNothingOfTheTrainers() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        List<Integer> order = epoch(line, 0, 0);
        int to = 400;
        while (order.get(to - 1) > SAMPLES / 2) {
            to++;
        }
        read(run, order.subList(0, to));
        int last = order.get(to - 1);
        read(run, IntStream.range(last + 1, last + 100).boxed().toList());
        assertThat(run.progress().position()).isEqualTo(to);
    }

    @Test
    void trainerThatDoesNotShuffle_isToldInItsSecondEpoch_andOutOfSyncAfterFour() throws Exception {
        JobRun run = start("seed=5 epochs=9 batch=16");
        List<Integer> unshuffled = IntStream.range(0, SAMPLES).boxed().toList();
        read(run, unshuffled);
        assertThat(run.progress().inNameOrder()).isFalse();
        read(run, unshuffled);
        assertThat(run.progress().inNameOrder()).isTrue();
        assertThat(run.progress().inSync()).isTrue();
        read(run, unshuffled);
        read(run, unshuffled);
        read(run, unshuffled);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
        assertThat(run.progress().deviations()).isGreaterThan(4 * SAMPLES);
        read(run, epoch("seed=5", 0, 0).subList(0, 300));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().inNameOrder()).isFalse();
        assertThat(run.progress().position()).isEqualTo(300);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " workers=4"})
    void trainerThatIsToReadInNameOrder_isFollowed(String further) throws Exception {
        String line = "sampler=sequential epochs=2 batch=16" + further;
        JobRun run = start(line);
        for (int epoch = 0; epoch < 2; epoch++) {
            read(run, LoaderOrder.of(IntStream.range(0, SAMPLES).boxed().toList(), BATCH, 4, 2, new Random(1)));
        }
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().done()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().deviations()).isLessThan(SAMPLES / 50);
    }
}
