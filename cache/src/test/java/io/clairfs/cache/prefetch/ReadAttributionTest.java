package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Trainings over the same samples at the same time. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ReadAttributionTest {
    private static final int SAMPLES = 1200;
    private static final int EPOCHS = 2;

    /** Trainings of one order so close to each other may be taken for each other. */
    private static final int IN_STEP = 8;

    private SmallDataset dataset;

    @BeforeAll
    void makeDataset(@TempDir Path directory) throws Exception {
        dataset = new SmallDataset(directory, SAMPLES, 0, 1);
    }

    @AfterAll
    void closeDataset() {
        dataset.close();
    }

    private JobRun job(int seed) throws InvalidSpecException {
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        String line = "name=seed" + seed + " seed=" + seed + " batch=8 epochs=" + EPOCHS;
        return new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, System::nanoTime);
    }

    /** The file of the training's read with this number, over all epochs. */
    private int file(JobRun job, int read) throws InvalidSpecException {
        return dataset.index.file(job.orders().epoch(read / SAMPLES).sample(0, read % SAMPLES));
    }

    /** How many samples the training has read, over all epochs. */
    private static int read(JobRun job) throws InvalidSpecException {
        return job.progress().epoch() * SAMPLES + job.progress().position();
    }

    private void read(ReadAttribution attribution, int file) {
        attribution.read(file, (job, read) -> {
            try {
                job.read(read);
            } catch (InvalidSpecException e) {
                throw new AssertionError(e);
            }
        });
    }

    // Two closes of one file, one after the other, are one event of inotify.
    @ParameterizedTest(name = "one read in {0} reported of both")
    @ValueSource(ints = {2, 6, 20})
    void trainersInStep_ofWhomOneCloseIsReported_areBothFollowed(int oneIn) throws Exception {
        JobRun one = job(5);
        JobRun other = job(5);
        ReadAttribution attribution = new ReadAttribution(List.of(one, other));
        Random random = new Random(oneIn);
        for (int read = 0; read < EPOCHS * SAMPLES; read++) {
            read(attribution, file(one, read));
            if (random.nextInt(oneIn) == 0) {
                read(attribution, file(one, read));
                assertThat(read(other))
                        .as("%s and %s", one.progress(), other.progress())
                        .isEqualTo(read + 1);
            }
            assertThat(read(one))
                    .as("%s and %s", one.progress(), other.progress())
                    .isEqualTo(read + 1);
        }
        assertThat(one.progress().deviations()).isZero();
        assertThat(other.progress().deviations()).isZero();
    }

    @ParameterizedTest(name = "seeds {0} and {1}, the second {2} reads behind")
    @CsvSource({"5,6,0", "5,6,400", "5,5,0", "5,5,3", "5,5,400", "5,5,1200"})
    void trainingsSideBySide_areFollowedEachByItself(int seed, int otherSeed, int behind) throws Exception {
        JobRun one = job(seed);
        JobRun other = job(otherSeed);
        ReadAttribution attribution = new ReadAttribution(List.of(one, other));
        for (int read = 0; read < EPOCHS * SAMPLES + behind; read++) {
            if (read < EPOCHS * SAMPLES) {
                read(attribution, file(one, read));
            }
            if (read >= behind) {
                read(attribution, file(other, read - behind));
            }
            if (read == SAMPLES - 1) {
                assertThat(one.progress().inSync()).isTrue();
                assertThat(other.progress().inSync()).isTrue();
                assertThat(read(other)).isCloseTo(SAMPLES - behind, Offset.offset(IN_STEP));
            }
        }
        for (JobRun job : List.of(one, other)) {
            assertThat(job.progress().done()).as("%s", job.progress()).isTrue();
            assertThat(job.progress().inSync()).isTrue();
            assertThat(job.progress().deviations()).as("%s", job.progress()).isLessThan(EPOCHS * SAMPLES / 50);
        }
    }

    @Test
    void readThatNobodyIsAboutToMake_concernsAll() throws Exception {
        JobRun one = job(5);
        JobRun other = job(6);
        ReadAttribution attribution = new ReadAttribution(List.of(one, other));
        for (int read = 0; read < SAMPLES / 2; read++) {
            read(attribution, file(one, read));
            read(attribution, file(other, read));
        }
        int far = 0;
        while (one.distance(far) != JobRun.NOT_EXPECTED || other.distance(far) != JobRun.NOT_EXPECTED) {
            far++;
        }
        assertThat(attribution.jobsOf(far)).containsExactly(one, other);
        int next = file(one, SAMPLES / 2);
        assertThat(attribution.jobsOf(next)).containsExactly(one);
        read(attribution, next);
        assertThat(one.distance(next)).isEqualTo(JobRun.NOT_EXPECTED);
    }
}
