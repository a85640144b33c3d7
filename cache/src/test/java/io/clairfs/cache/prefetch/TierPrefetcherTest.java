package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.FillOrders;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.placement.WhileRoom;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.worker.Activity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In which order a tier is filled, and when not. Samples have 100 bytes. */
@Timeout(120)
final class TierPrefetcherTest {
    private static final int SAMPLES = 40;
    private static final long SIZE = 100;
    private static final int MEMORY = 0;
    private static final int DISK = 1;
    private static final long STAGING = 20 * SIZE;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(SAMPLES * SIZE);
    private final RecordingTier disk = new RecordingTier(SAMPLES * SIZE);
    private final SamplesInUse inUse = new SamplesInUse();
    private final StagingBuffer staging = new StagingBuffer(new RecordingArea(), STAGING, 100);
    private final LoaderShares shares =
            new LoaderShares(LoaderAssignment.fixed(), STAGING, 2, () -> false, System::nanoTime);
    private final List<JobRun> jobs = new CopyOnWriteArrayList<>();
    private final Admission admission;
    private final FetchRouter router;

    TierPrefetcherTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
        admission = new Admission(dataset.tree, memory, List.of(disk), 4 * SIZE);
        NodeStorage storage = NodeStorage.of(StorageClass.memory(10_000), RecordingTier.asClass(10_000));
        ObservedRates rates =
                new ObservedRates(FetchCosts.of(PerformanceModel.unmeasured(), storage, 1), 60, System::nanoTime);
        router = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                rates,
                new Counters(),
                System::nanoTime);
    }

    @AfterEach
    void close() {
        admission.close();
        memory.close();
        disk.close();
        inUse.close();
    }

    private TierPrefetcher filler(int tier) {
        return new TierPrefetcher(tier, admission, router, shares, new Activity());
    }

    private JobRun start(String line) throws InvalidSpecException {
        JobRun run = new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, System::nanoTime);
        jobs.add(run);
        return run;
    }

    /** A plan for what runs, filled in the order in which it is read from where its trainers are. */
    private LocalPlan plan(IntUnaryOperator tierOf) throws InvalidSpecException {
        int[][] planned = new int[2][];
        for (int tier = 0; tier < 2; tier++) {
            int here = tier;
            planned[tier] = IntStream.range(0, SAMPLES)
                    .map(dataset::file)
                    .filter(file -> tierOf.applyAsInt(file) == here)
                    .toArray();
        }
        List<FillOrders.Reading> readings =
                jobs.stream().map(job -> FillOrders.Reading.here(job, -1)).toList();
        int[][] order = FillOrders.of(planned, tierOf, readings);
        return new LocalPlan() {
            @Override
            public int tierOf(int file) {
                return tierOf.applyAsInt(file);
            }

            @Override
            public int[] fillOrder(int tier) {
                return order[tier];
            }
        };
    }

    private static void fillAll(TierPrefetcher filler) throws Exception {
        int bound = 0;
        while (filler.fillOne()) {
            assertThat(bound++).isLessThan(10_000);
        }
    }

    private static int sample(JobRun run, int epoch, int rank, int step) throws InvalidSpecException {
        return run.orders().epoch(epoch).sample(rank, step);
    }

    @Test
    void oneRank_filledInItsOrder_eachSampleOnce() throws Exception {
        JobRun run = start("seed=1 epochs=3");
        admission.follow(plan(_ -> MEMORY));
        fillAll(filler(MEMORY));
        List<Integer> order = new ArrayList<>();
        for (int step = 0; step < SAMPLES; step++) {
            order.add(sample(run, 0, 0, step));
        }
        assertThat(dataset.reads()).isEqualTo(order);
        assertThat(memory.samples()).isEqualTo(SAMPLES);
        assertThat(memory.pinnedBytes()).isEqualTo(SAMPLES * SIZE);
    }

    @Test
    void severalRanks_filledInTheOrderInWhichTheyAreReadTogether() throws Exception {
        JobRun run = start("seed=1 epochs=3 world=4 ranks=1-3");
        admission.follow(plan(_ -> MEMORY));
        TierPrefetcher filler = filler(MEMORY);
        for (int i = 0; i < 15; i++) {
            assertThat(filler.fillOne()).isTrue();
        }
        List<Integer> reads = dataset.reads();
        for (int step = 0; step < 5; step++) {
            assertThat(reads.subList(3 * step, 3 * step + 3))
                    .as("step " + step)
                    .containsExactlyInAnyOrder(
                            sample(run, 0, 1, step), sample(run, 0, 2, step), sample(run, 0, 3, step));
        }
    }

    @Test
    void severalJobs_filledInTurns_eachInItsOrder() throws Exception {
        JobRun one = start("name=one seed=1 epochs=3");
        JobRun two = start("name=two seed=2 epochs=3");
        admission.follow(plan(_ -> MEMORY));
        List<Integer> expected = new ArrayList<>();
        int[] step = new int[2];
        for (int turn = 0; turn < SAMPLES; turn++) {
            JobRun job = turn % 2 == 0 ? one : two;
            int next = sample(job, 0, 0, step[turn % 2]++);
            while (expected.contains(next)) {
                next = sample(job, 0, 0, step[turn % 2]++);
            }
            expected.add(next);
        }
        fillAll(filler(MEMORY));
        assertThat(dataset.reads()).isEqualTo(expected);
    }

    @Test
    void jobThatHasReadSomething_filledFromThereOn() throws Exception {
        JobRun run = start("seed=1 epochs=3");
        for (int step = 0; step < 10; step++) {
            run.read(dataset.file(sample(run, 0, 0, step)));
        }
        admission.follow(plan(_ -> MEMORY));
        assertThat(filler(MEMORY).fillOne()).isTrue();
        assertThat(dataset.reads()).containsExactly(sample(run, 0, 0, 10));
    }

    @Test
    void onlyWhatThePlanWantsThere_isBrought_andWhatIsInMemoryCopied() throws Exception {
        start("seed=1 epochs=3");
        admission.follow(plan(file -> file % 2));
        fillAll(filler(MEMORY));
        assertThat(dataset.reads()).hasSize(SAMPLES / 2);
        fillAll(filler(DISK));
        assertThat(dataset.reads()).hasSize(SAMPLES).doesNotHaveDuplicates();
        for (int sample = 0; sample < SAMPLES; sample++) {
            int file = dataset.file(sample);
            assertThat(admission.residents().holdersOf(file))
                    .isEqualTo(file % 2 == 0 ? List.of("memory", "disk") : List.of("disk"));
        }
    }

    @Test
    void sampleInAnotherTier_isMovedWithoutTheSource() throws Exception {
        start("seed=1 epochs=3");
        admission.follow(plan(_ -> MEMORY));
        fillAll(filler(MEMORY));
        admission.follow(plan(_ -> DISK));
        fillAll(filler(DISK));
        assertThat(disk.samples()).isEqualTo(SAMPLES);
        assertThat(dataset.reads()).hasSize(SAMPLES);
    }

    @Test
    void sampleThatSomebodyIsFetching_isPassedOver() throws Exception {
        JobRun run = start("seed=1 epochs=3");
        admission.follow(plan(_ -> MEMORY));
        CountDownLatch gate = dataset.hang();
        int first = dataset.file(sample(run, 0, 0, 0));
        FutureTask<SampleBuffer> fetch = new FutureTask<>(() -> router.fetch(first, false));
        Thread.ofPlatform().daemon().start(fetch);
        dataset.awaitReads(1);
        FutureTask<Boolean> fill = new FutureTask<>(filler(MEMORY)::fillOne);
        Thread.ofPlatform().daemon().start(fill);
        dataset.awaitReads(1);
        gate.countDown();
        assertThat(fill.get(60, TimeUnit.SECONDS)).isTrue();
        fetch.get(60, TimeUnit.SECONDS).release();
        assertThat(dataset.reads()).containsExactly(sample(run, 0, 0, 0), sample(run, 0, 0, 1));
    }

    @Test
    void whileATrainerIsHungry_nothingIsFetched_butWhatIsThereIsWritten() throws Exception {
        JobRun run = start("seed=1 epochs=3");
        shares.add(run);
        admission.follow(plan(_ -> DISK));
        SampleBuffer brought = dataset.sample(7);
        admission.fetched(dataset.file(7), brought, false);
        brought.release();
        TierPrefetcher filler = filler(DISK);
        assertThat(filler.fillOne()).isTrue();
        assertThat(disk.operations()).containsExactly("keep " + dataset.file(7));
        assertThat(filler.fillOne()).isFalse();
        assertThat(dataset.reads()).isEmpty();
        for (int i = 0; i < 10; i++) {
            assertThat(shares.isHungry()).isTrue();
            assertThat(run.stream(0).nextToStage(STAGING)).isNotNull();
        }
        assertThat(filler.fillOne())
                .as("half of the staging buffer is on its way")
                .isTrue();
        assertThat(dataset.reads()).containsExactly(sample(run, 0, 0, 0));
    }

    @Test
    void withoutAPlanOrAMediumThatTakesIt_nothingIsFetched_andItGoesOnWhereItWas() throws Exception {
        JobRun run = start("seed=1 epochs=3");
        TierPrefetcher filler = filler(DISK);
        assertThat(filler.fillOne()).as("no plan").isFalse();
        admission.follow(plan(_ -> DISK));
        disk.setWritable(false);
        assertThat(filler.fillOne()).as("not writable").isFalse();
        assertThat(dataset.reads()).isEmpty();
        disk.setWritable(true);
        assertThat(filler.fillOne()).isTrue();
        assertThat(dataset.reads()).containsExactly(sample(run, 0, 0, 0));
        assertThat(filler.fillOne()).as("writes it").isTrue();
        disk.setWritable(false);
        assertThat(filler.fillOne()).isFalse();
        disk.setWritable(true);
        fillAll(filler);
        assertThat(disk.samples()).isEqualTo(SAMPLES);
        assertThat(dataset.reads()).hasSize(SAMPLES);
    }

    @Test
    void queueThatIsHalfFull_isWrittenBeforeMoreIsFetched() throws Exception {
        start("seed=1 epochs=3");
        admission.follow(plan(_ -> DISK));
        TierPrefetcher filler = filler(DISK);
        List<Integer> queued = new ArrayList<>();
        for (int sample = 0; sample < 3; sample++) {
            SampleBuffer brought = dataset.sample(sample);
            admission.fetched(dataset.file(sample), brought, false);
            brought.release();
            queued.add(dataset.file(sample));
        }
        for (int i = 0; i < 3; i++) {
            assertThat(filler.fillOne()).isTrue();
        }
        assertThat(disk.operations())
                .containsExactlyElementsOf(
                        queued.stream().map(file -> "keep " + file).toList());
        assertThat(dataset.reads()).isEmpty();
        assertThat(filler.fillOne()).isTrue();
        assertThat(dataset.reads()).hasSize(1);
    }

    @Test
    void everythingIsThere_nothingIsLeftToDo() throws Exception {
        start("seed=1 epochs=3");
        admission.follow(plan(_ -> LocalPlan.NOWHERE));
        fillAll(filler(MEMORY));
        assertThat(dataset.reads()).isEmpty();
        assertThat(filler(MEMORY).fillOne()).isFalse();
    }

    @Test
    void failingSource_isTheCallersFailure_andTheRestIsFilled() throws Exception {
        JobRun run = start("seed=1 epochs=2");
        admission.follow(plan(_ -> MEMORY));
        TierPrefetcher filler = filler(MEMORY);
        dataset.fail(true);
        assertThatThrownBy(filler::fillOne).isInstanceOf(SourceFailedException.class);
        dataset.fail(false);
        fillAll(filler);
        assertThat(memory.samples()).as("what failed is tried again at the end").isEqualTo(SAMPLES);
        assertThat(dataset.readsOf(sample(run, 0, 0, 0))).isEqualTo(2);
        assertThat(dataset.reads()).hasSize(SAMPLES + 1);
    }

    @Test
    void sampleThatFailsTwice_isLeftToItsReader() throws Exception {
        start("seed=1 epochs=2");
        admission.follow(plan(_ -> MEMORY));
        TierPrefetcher filler = filler(MEMORY);
        dataset.fail(true);
        for (int i = 0; i < 2 * SAMPLES; i++) {
            assertThatThrownBy(filler::fillOne).isInstanceOf(SourceFailedException.class);
        }
        assertThat(filler.fillOne()).isFalse();
        dataset.fail(false);
        assertThat(filler.fillOne()).isFalse();
        admission.follow(plan(_ -> MEMORY));
        assertThat(filler.fillOne()).as("a new plan").isTrue();
    }

    @Test
    void planThatWaitsForOtherNodes_nothingIsFetched() throws Exception {
        start("seed=1 epochs=2");
        admission.follow(LocalPlan.PENDING);
        assertThat(filler(MEMORY).fillOne()).isFalse();
        assertThat(filler(DISK).fillOne()).isFalse();
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void withoutAPlan_thisEpochIsFilled_whileThereIsRoom_andNoOther() throws Exception {
        JobRun run = start("seed=1 epochs=3");
        admission.follow(WhileRoom.of(jobs));
        TierPrefetcher filler = filler(MEMORY);
        for (int i = 0; i < 5; i++) {
            assertThat(filler.fillOne()).isTrue();
        }
        assertThat(dataset.reads())
                .containsExactlyElementsOf(IntStream.range(0, 5)
                        .mapToObj(step -> order(run, 0).sample(0, step))
                        .toList());
        for (int step = 0; step < SAMPLES; step++) {
            run.read(dataset.file(sample(run, 0, 0, step)));
        }
        assertThat(filler.fillOne()).as("the trainer is in epoch 1").isFalse();
        assertThat(dataset.reads()).hasSize(5);
        admission.follow(WhileRoom.of(jobs));
        assertThat(filler.fillOne()).isTrue();
    }

    private static EpochOrder order(JobRun run, int epoch) {
        try {
            return run.orders().epoch(epoch);
        } catch (InvalidSpecException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void jobWhoseNextEpochIsStillToBeWritten_isFilledWithWhatIsKnown(@TempDir Path directory) throws Exception {
        List<Integer> firstHalf = IntStream.range(0, SAMPLES / 2).boxed().toList();
        Files.write(
                directory.resolve("order-0"),
                firstHalf.stream().map(Object::toString).toList());
        JobRun run = start("sampler=order-file epochs=2 file=" + directory.resolve("order-{epoch}"));
        admission.follow(plan(file -> dataset.index.sampleOf(file) < SAMPLES / 2 ? MEMORY : LocalPlan.NOWHERE));
        fillAll(filler(MEMORY));
        assertThat(dataset.reads()).containsExactlyElementsOf(firstHalf);
        assertThat(run.progress().done()).isFalse();
    }
}
