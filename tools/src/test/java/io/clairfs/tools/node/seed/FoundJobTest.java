package io.clairfs.tools.node.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.seed.FoundOrder;
import io.clairfs.tools.node.UnmountedNode;
import io.clairfs.tools.node.job.JobTable;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the job of a found order is dropped. No watcher reports the reads, so nobody searches for the trainer but the job's own judge. */
final class FoundJobTest {
    /** So many that in another order few reads are beside each other. */
    private static final int SAMPLES = 1200;

    /** So many that the trainer's epoch is known by them. */
    private static final int READ = 400;

    private static final String ORDER = "sampler=torch-distributed seed=3";

    private long nowNs = 1;

    @SuppressWarnings("NullAway.Init")
    private UnmountedNode node;

    @SuppressWarnings("NullAway.Init")
    private SampleIndex index;

    @SuppressWarnings("NullAway.Init")
    private FoundJob job;

    /** The run of the job, whose trainer has read the beginning of the first epoch. */
    @SuppressWarnings("NullAway.Init")
    private JobRun run;

    @BeforeEach
    void begin(@TempDir Path directory, @TempDir Path orders) throws Exception {
        node = new UnmountedNode(directory, SAMPLES);
        index = node.indexes.of("");
        JobTable jobs = new JobTable(node.indexes, node.prefetcher, null, node.errors, System::nanoTime);
        job = new FoundJob(jobs, new OrderFolder(orders), node.errors, () -> nowNs);
        EpochOrder first = order(0);
        int[] read = IntStream.range(0, READ)
                .map(step -> index.file(first.sample(0, step)))
                .toArray();
        assertThat(job.begin(new FoundOrder(ORDER, 0, READ, READ, 1e-9), "", 0, read))
                .isTrue();
        run = Objects.requireNonNull(jobs.found());
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
    }

    @AfterEach
    void end() throws Exception {
        node.close();
    }

    private EpochOrder order(int epoch) throws Exception {
        return JobSpec.parse("name=order " + ORDER).sampler(index).epoch(epoch);
    }

    private void pass(long ms) {
        nowNs += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    @Test
    void trainerOutOfSync_isNotGivenUp_beforeASearchForIt_howeverLongThatTakesToBegin() throws Exception {
        Random random = new Random(5);
        while (run.isInSync()) {
            run.read(index.file(random.nextInt(SAMPLES)));
        }
        assertThat(run.isLost()).as("it is still to be searched for").isFalse();
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        pass(10_000);
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
    }

    @Test
    void trainerThatGoesOnElsewhere_isSearchedForOnceMore_beforeItIsGivenUp() throws Exception {
        EpochOrder elsewhere = order(4);
        for (int step = 0; !run.isLost(); step++) { // nobody searches meanwhile
            run.read(index.file(elsewhere.sample(0, step)));
        }
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        pass(10_000);
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        assertThat(run.isInSync()).isTrue();
        assertThat(run.epoch()).isEqualTo(4);
    }

    /** The next look gives it a job that repeats the epoch. */
    @Test
    void trainerThatIsFoundInItsFirstEpochOnceMore_isFollowedThere() throws Exception {
        EpochOrder first = order(0);
        for (int step = READ; step < SAMPLES; step++) {
            run.read(index.file(first.sample(0, step)));
        }
        for (int step = 0; !run.isLost(); step++) {
            run.read(index.file(first.sample(0, step)));
        }
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        pass(10_000);
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        assertThat(job.line()).isEqualTo(ORDER + " set_epoch=false");
    }

    @Test
    void trainerThatAnotherThreadSearchesFor_isNotGivenUp_beforeThatHasEnded() throws Exception {
        Random random = new Random(5);
        readUntilASearchIsDue(random);
        assertThat(run.search()).isFalse();
        readUntilASearchIsDue(random); // as another thread would, which has begun a second one
        assertThat(run.isLost()).isTrue();
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        pass(10_000);
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);

        assertThat(run.search()).isFalse();
        assertThat(job.look()).isEqualTo(FoundJob.Fate.CONTRADICTED);
    }

    private void readUntilASearchIsDue(Random random) throws Exception {
        while (!run.wantsSearch()) {
            run.read(index.file(random.nextInt(SAMPLES)));
        }
    }

    // Promise S4
    @Test
    void trainerThatReadsInAnotherOrder_isGivenUp_twoSecondsAfterItIsLost() throws Exception {
        Random random = new Random(5);
        while (!run.isLost()) {
            run.read(index.file(random.nextInt(SAMPLES)));
        }
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        pass(1_900);
        assertThat(job.look()).isEqualTo(FoundJob.Fate.FOLLOWED);
        pass(200);
        assertThat(job.look()).isEqualTo(FoundJob.Fate.CONTRADICTED);
        assertThat(node.errors.total()).isZero();
    }
}
