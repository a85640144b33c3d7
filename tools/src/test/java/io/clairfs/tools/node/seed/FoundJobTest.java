package io.clairfs.tools.node.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.seed.FoundOrder;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.JobTable;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
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

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private long nowNs = 1;

    @SuppressWarnings("NullAway.Init")
    private SampleIndex index;

    @SuppressWarnings("NullAway.Init")
    private FoundJob job;

    /** The run of the job, whose trainer has read the beginning of the first epoch. */
    @SuppressWarnings("NullAway.Init")
    private JobRun run;

    @BeforeEach
    void begin(@TempDir Path directory, @TempDir Path orders) throws Exception {
        SmallDataset dataset = closing(new SmallDataset(directory, SAMPLES, 100, 1));
        MemoryTier memory = closing(new MemoryTier(1 << 20));
        Admission admission = closing(new Admission(dataset.tree, memory, List.of(), 1 << 20));
        SamplesInUse inUse = closing(new SamplesInUse());
        FetchRouter router = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset.source, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                new Counters(),
                System::nanoTime);
        Prefetcher prefetcher = closing(new Prefetcher(
                dataset.tree,
                router,
                admission,
                inUse,
                _ -> LocalPlan.WHILE_ROOM,
                new RecordingArea(),
                new PrefetchSettings(1 << 20, 1000, 1, List.of(1), PrefetchSettings.Sharing.FIXED),
                new Counters(),
                errors));
        ConsumptionWatcher watcher = closing(new ConsumptionWatcher(dataset.tree, directory, new NoReader(), errors));
        Indexes indexes = new Indexes(dataset.tree, IndexRule.of("sorted"), watcher, errors, 1000);
        index = indexes.of("");
        JobTable jobs = new JobTable(indexes, prefetcher, null, errors, System::nanoTime);
        job = new FoundJob(jobs, new OrderFolder(orders), errors, () -> nowNs);
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
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }

    private static final class NoReader implements ConsumptionWatcher.Reader {
        @Override
        public void read(int[] files, int count) {}

        @Override
        public void reportsLost() {}
    }

    private <T extends AutoCloseable> T closing(T part) {
        parts.push(part);
        return part;
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
        assertThat(errors.total()).isZero();
    }
}
