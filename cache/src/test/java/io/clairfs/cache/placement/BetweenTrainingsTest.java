package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BetweenTrainingsTest {
    private static final int SAMPLES = 1000;
    private static final int BYTES = 100;
    private static final long ALL = (long) SAMPLES * BYTES;
    private static final int STAGED = 20;

    private SmallDataset dataset;
    private StagingBuffer staging;

    @BeforeAll
    void makeDataset(@TempDir Path directory) throws Exception {
        dataset = new SmallDataset(directory, SAMPLES, BYTES, BYTES);
        staging = new StagingBuffer(new RecordingArea(), 4 * STAGED * BYTES, SAMPLES);
    }

    @AfterAll
    void closeDataset() {
        dataset.close();
    }

    /** A training that has read so many samples. */
    private JobRun training(String line, int read) throws InvalidSpecException {
        JobRun run = new JobRun(
                JobSpec.parse(line + " batch=1 epochs=2"), dataset.index, dataset.tree, staging, System::nanoTime);
        for (int i = 0; i < read; i++) {
            run.read(dataset.index.file(run.orders().epoch(0).sample(0, i)));
        }
        return run;
    }

    private static BetweenTrainings of(long memory, JobRun... jobs) {
        BetweenTrainings between = BetweenTrainings.of(List.of(jobs), memory, memory, _ -> BYTES);
        assertThat(between).isNotNull();
        return between;
    }

    @Test
    void trainingsOfOneOrder_haveRoomForWhatIsBetweenThem() throws Exception {
        JobRun ahead = training("name=a seed=5", 100);
        JobRun behind = training("name=b seed=5 workers=3", 0);
        BetweenTrainings between = of(ALL / 2, ahead, training("name=c seed=6", 0), behind);
        assertThat(between.roomBytes()).isEqualTo(125 * BYTES);
        assertThat(between.isAwaitedBehind(ahead)).isTrue();
        assertThat(between.isAwaitedBehind(behind)).isFalse();
        assertThat(between.isStale()).isFalse();
    }

    @Test
    void samplesWithoutAFile_takeNoRoom(@TempDir Path images) throws Exception {
        Files.createDirectory(images.resolve("cat"));
        for (int i = 0; i < 2 * STAGED; i++) {
            Files.write(images.resolve("cat/" + i + ".jpg"), new byte[BYTES]);
        }
        Files.createSymbolicLink(images.resolve("cat/broken.jpg"), Path.of("nowhere"));
        try (DirectorySource source = new DirectorySource(images);
                DatasetTree tree = new DatasetTree(source, 2, warning -> {})) {
            tree.complete().join();
            SampleIndex index = IndexRule.of("imagefolder").index(tree, tree.root());
            assertThat(index.size()).isEqualTo(2 * STAGED + 1);
            List<JobRun> jobs = new ArrayList<>();
            for (String name : List.of("a", "b")) {
                JobSpec spec = JobSpec.parse("seed=5 batch=1 epochs=2 name=" + name);
                jobs.add(new JobRun(spec, index, tree, staging, System::nanoTime));
            }
            assertThat(BetweenTrainings.of(jobs, STAGED * BYTES, STAGED * BYTES, tree::keptSize))
                    .isNotNull();
        }
    }

    @Test
    void otherOrders_orOneTraining_haveNone() throws Exception {
        JobRun one = training("name=a seed=5", 0);
        for (String other : List.of("name=b seed=6", "name=b seed=5 shuffle=false", "name=b seed=5 world=2 ranks=0")) {
            assertThat(BetweenTrainings.of(List.of(one, training(other, 0)), ALL, ALL, _ -> BYTES))
                    .as(other)
                    .isNull();
        }
        assertThat(BetweenTrainings.of(List.of(one), ALL, ALL, _ -> BYTES)).isNull();
    }

    @Test
    void noRoom_whereWhatIsStagedIsEnough_orItWouldNotPay() throws Exception {
        assertThat(of(ALL / 2, training("name=a seed=5", STAGED / 2), training("name=b seed=5", 0))
                        .roomBytes())
                .isZero();
        assertThat(of(ALL / 2, training("name=a seed=5", 500), training("name=b seed=5", 0))
                        .roomBytes())
                .as("more than half of the memory")
                .isZero();
        assertThat(of(ALL * 9 / 10, training("name=a seed=5", 100), training("name=b seed=5", 0))
                        .roomBytes())
                .as("more than no tier keeps")
                .isZero();
    }

    @Test
    void trainingsThatDriftApart_needAnotherPlan() throws Exception {
        JobRun ahead = training("name=a seed=5", 0);
        BetweenTrainings between = of(ALL / 2, ahead, training("name=b seed=5", 0));
        assertThat(between.isStale()).isFalse();
        for (int i = 0; i < 100; i++) {
            ahead.read(dataset.index.file(ahead.orders().epoch(0).sample(0, i)));
        }
        assertThat(between.isStale()).isTrue();
    }

    @Test
    void keepsUntilBothHaveRead_andLetsGoTheOldestFirst() throws Exception {
        BetweenTrainings between = of(ALL / 2, training("name=a seed=5", 100), training("name=b seed=5", 0));
        List<Integer> gone = new ArrayList<>();
        int room = (int) (between.roomBytes() / BYTES);
        for (int file = 0; file < room; file++) {
            assertThat(between.offer(file, gone::add)).isTrue();
        }
        assertThat(between.offer(0, gone::add)).as("is there already").isFalse();
        assertThat(gone).isEmpty();
        assertThat(between.read(5)).isFalse();
        assertThat(between.read(5)).isTrue();
        assertThat(between.keeps(5)).isFalse();
        assertThat(between.read(5)).isFalse();
        assertThat(between.offer(room, gone::add)).isTrue();
        assertThat(gone).isEmpty();
        assertThat(between.offer(room + 1, gone::add)).isTrue();
        assertThat(gone).containsExactly(0);

        BetweenTrainings next = of(ALL / 2, training("name=a seed=5", 50), training("name=b seed=5", 0));
        next.takeOver(between);
        assertThat(next.keeps(1)).isTrue();
        assertThat(next.keeps(room + 1)).as("more than its room").isFalse();
    }
}
