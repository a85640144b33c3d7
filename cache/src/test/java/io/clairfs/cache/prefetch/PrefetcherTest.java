package io.clairfs.cache.prefetch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.CountingSource;
import io.clairfs.cache.testing.ReadBytes;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import io.clairfs.cache.tier.MemoryTier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loaders, tier, staging buffer and reader together, over real files and a source that counts. */
@Timeout(120)
final class PrefetcherTest {
    private static final int SAMPLES = 300;
    private static final int LARGEST = 5000;
    private static final long STAGING = 100_000;

    /** Of readers that are not to run into it. */
    private static final long READ_TIMEOUT_MS = 60_000;

    private @TempDir Path directory;

    private final class Node implements AutoCloseable {
        final SmallDataset dataset;
        final CountingSource source;
        final RecordingArea area = new RecordingArea();
        final Counters counters = new Counters();
        final ErrorLog errors = new ErrorLog(Clock.systemUTC());
        final MemoryTier memory;
        final Admission admission;
        final SamplesInUse inUse = new SamplesInUse();
        final FetchRouter router;
        final SampleReader reader;
        final Prefetcher prefetcher;

        Node(long memoryBytes, long readTimeoutMs) throws Exception {
            dataset = new SmallDataset(directory, SAMPLES, LARGEST, 7);
            source = new CountingSource(dataset.source, new CountDownLatch(0));
            memory = new MemoryTier(memoryBytes);
            admission = new Admission(dataset.tree, memory, List.of(), 1 << 20);
            ObservedRates rates = new ObservedRates(
                    FetchCosts.of(PerformanceModel.unmeasured(), NodeStorage.of(StorageClass.memory(memoryBytes)), 1),
                    60,
                    System::nanoTime);
            router = new FetchRouter(
                    new FetchPlaces(dataset.tree, source, admission, inUse, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    rates,
                    counters,
                    System::nanoTime);
            reader = new SampleReader(dataset.tree, source, router, inUse, counters, errors, readTimeoutMs);
            prefetcher = new Prefetcher(
                    dataset.tree,
                    router,
                    admission,
                    inUse,
                    _ -> LocalPlan.WHILE_ROOM,
                    area,
                    new PrefetchSettings(STAGING, 1000, 4, List.of(2), PrefetchSettings.Sharing.BALANCED),
                    counters,
                    errors);
        }

        void train(String line, int epochs) throws Exception {
            JobSpec spec = JobSpec.parse(line);
            JobRun run = prefetcher.start(spec, dataset.index, true);
            for (int epoch = 0; epoch < epochs; epoch++) {
                EpochOrder order = run.orders().epoch(epoch);
                for (int step = 0; step < order.length(0); step++) {
                    int file = dataset.index.file(order.sample(0, step));
                    awaitStaged(file);
                    prefetcher.read(new int[] {file}, 1);
                }
            }
        }

        private void awaitStaged(int file) {
            Await.until("file " + file + " is staged", () -> area.has(file));
        }

        void requireContent(int file) throws Exception {
            requireContent(reader, file);
        }

        void requireContent(SampleReader reader, int file) throws Exception {
            byte[] expected = Files.readAllBytes(
                    directory.resolve(new String(dataset.tree.entry(file).path(), UTF_8)));
            assertThat(ReadBytes.of(reader, file, 0, LARGEST + 10)).isEqualTo(expected);
        }

        @Override
        public void close() {
            source.gate.countDown();
            prefetcher.close();
            reader.close();
            inUse.close();
            memory.close();
            dataset.close();
        }
    }

    /** Its order begins behind all that a window holds. */
    @Test
    void whereabouts_behindAnInvalidOrder_endNoJob(@TempDir Path orders) throws Exception {
        String others = IntStream.range(0, 20_000)
                .mapToObj(i -> Integer.toString(i % (SAMPLES - 1)))
                .collect(Collectors.joining("\n"));
        Files.writeString(orders.resolve("0"), others);
        Files.writeString(orders.resolve("1"), Integer.toString(SAMPLES));
        Files.setLastModifiedTime(orders.resolve("1"), FileTime.fromMillis(0)); // it is whole
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            JobSpec spec = JobSpec.parse("sampler=order-file epochs=2 file=" + orders.resolve("{epoch}"));
            JobRun run = node.prefetcher.start(spec, node.dataset.index, true);
            assertThat(node.prefetcher
                            .whereabouts(node.dataset.index.file(SAMPLES - 1))
                            .nextUses())
                    .isEmpty();
            assertThat(node.prefetcher.jobs()).containsExactly(run);
        }
    }

    @Test
    void memoryForAll_everySampleIsFetchedOnceInAllEpochs() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            node.train("seed=1 epochs=3", 3);
            assertThat(node.source.reads.get()).isEqualTo(SAMPLES);
            assertThat(node.area.mostBytes()).isLessThanOrEqualTo(STAGING);
            assertThat(node.prefetcher.jobs().getFirst().progress().deviations())
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void memoryForSome_theSourceIsReadNoMoreThanTheBoundAllows(int epochs) throws Exception {
        long memory = (long) SAMPLES * LARGEST / 6;
        try (Node node = new Node(memory, READ_TIMEOUT_MS)) {
            node.train("seed=1 epochs=" + epochs, epochs);
            long total = node.dataset.tree.fileBytes();
            // docs/decisions: S + (E-1)(S-C); the last epoch's tail may already be prefetched, a sample is never cut in
            // two
            long bound = total + (epochs - 1) * (total - memory);
            long slack = (long) epochs * LARGEST;
            assertThat(node.counters.fromSource.bytes()).isLessThanOrEqualTo(bound + slack);
            assertThat(node.memory.usedBytes()).isLessThanOrEqualTo(memory);
        }
    }

    @Test
    void noMemory_everySampleIsStillStagedInTime() throws Exception {
        try (Node node = new Node(0, READ_TIMEOUT_MS)) {
            node.train("seed=1 epochs=2", 2);
            assertThat(node.memory.samples()).isZero();
            assertThat(node.area.pushes()).isBetween((long) SAMPLES, 2L * SAMPLES);
        }
    }

    // Promise E2
    @Test
    void failingSource_isLoggedAndRecovers() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            node.source.failing = true;
            node.prefetcher.start(JobSpec.parse("seed=1 epochs=1"), node.dataset.index, true);
            Await.until("it is logged", () -> node.errors.total() > 0);
            assertThat(node.errors.lines().getLast().message()).contains("injected");
            node.source.failing = false;
            // A loader may be on its way back from the source with the failure, and a reader would share it.
            Await.until("what failed has ended", () -> !node.router.isUnderWay(5));
            node.requireContent(5);
        }
    }

    // Promise W1
    @Test
    void hangingSource_readerGetsAnErrorWithinItsTimeout() throws Exception {
        try (Node node = new Node(100_000_000, 200)) {
            node.source.gate = new CountDownLatch(1);
            org.assertj.core.api.Assertions.assertThatThrownBy(() -> ReadBytes.of(node.reader, 3, 0, 100))
                    .isInstanceOf(SourceTimeoutException.class)
                    .hasMessageContaining("200 ms");
            node.source.gate.countDown();
            try (SampleReader patient = new SampleReader(
                    node.dataset.tree,
                    node.source,
                    node.router,
                    node.inUse,
                    node.counters,
                    node.errors,
                    READ_TIMEOUT_MS)) {
                node.requireContent(patient, 3);
            }
        }
    }

    @Test
    void stagedSamplesThatAreGone_areStagedAgain_fromMemory() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            JobRun run = node.prefetcher.start(JobSpec.parse("seed=1 epochs=2"), node.dataset.index, true);
            EpochOrder order = JobSpec.parse("seed=1").sampler(SAMPLES).epoch(0);
            List<Integer> first = IntStream.range(0, 10)
                    .map(step -> node.dataset.index.file(order.sample(0, step)))
                    .boxed()
                    .toList();
            first.forEach(node::awaitStaged);
            Await.until("all is in memory", () -> node.memory.usedBytes() == node.dataset.tree.fileBytes());
            long reads = node.source.reads.get();
            first.forEach(node.area::lose);
            Await.until("they are there again", () -> first.stream().noneMatch(node.area::isLost));
            assertThat(node.counters.stagedLost.sum()).isEqualTo(first.size());
            assertThat(node.source.reads.get()).isEqualTo(reads);
            assertThat(run.progress().position()).isZero();
        }
    }

    @Test
    void readsThatNoJobIsThereFor_wakeNoLoader() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            long news = node.prefetcher.newsForLoaders();
            node.prefetcher.read(new int[] {0}, 1);
            node.prefetcher.reached(1);
            assertThat(node.prefetcher.newsForLoaders()).isEqualTo(news);

            node.prefetcher.start(JobSpec.parse("seed=1 epochs=1"), node.dataset.index, false);
            long started = node.prefetcher.newsForLoaders();
            node.prefetcher.reached(1);
            Await.until("woken", () -> node.prefetcher.newsForLoaders() > started);
        }
    }

    @Test
    void readerWhoseCloseIsNotReported_doesNotWaitForAnOrderThatIsComputed() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            JobRun run = node.prefetcher.start(JobSpec.parse("seed=1 epochs=1"), node.dataset.index, false);
            int first = node.dataset.index.file(run.orders().epoch(0).sample(0, 0));
            Thread reader = new Thread(() -> node.prefetcher.reached(first));
            synchronized (run) { // as a thread that computes one
                reader.start();
                reader.join(TimeUnit.SECONDS.toMillis(60));
                assertThat(reader.isAlive()).isFalse();
            }
            Await.until("followed", () -> run.hasBegun());
        }
    }

    @Test
    void trainerWhoseClosesAreNotReported_isFoundWhereItGoesOn() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            JobRun run = node.prefetcher.start(JobSpec.parse("seed=1 epochs=40"), node.dataset.index, false);
            EpochOrder order = run.orders().epoch(30); // farther than the window reaches
            synchronized (run) { // else a search may begin among them
                for (int step = SAMPLES / 3; step < 2 * SAMPLES / 3; step++) {
                    node.prefetcher.reached(node.dataset.index.file(order.sample(0, step)));
                }
            }
            Await.until("it is followed there", () -> run.epoch() == 30);
            assertThat(run.isLost()).isFalse();
        }
    }

    @Test
    void jobStopped_nothingIsWantedAnyMore() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            node.prefetcher.start(JobSpec.parse("seed=1 epochs=1"), node.dataset.index, true);
            assertThat(node.prefetcher.stop("train")).isTrue();
            assertThat(node.prefetcher.stop("train")).isFalse();
            assertThat(node.prefetcher.jobs()).isEmpty();
        }
    }

    @Test
    void jobsThatCameAndWent_leaveTheirRoomToTheNext() throws Exception {
        try (Node node = new Node(100_000_000, READ_TIMEOUT_MS)) {
            for (int seed = 0; seed < 500; seed++) {
                long pushes = node.area.pushes();
                node.prefetcher.start(JobSpec.parse("name=gone seed=" + seed), node.dataset.index, true);
                int few = seed % 8; // stopped while the loaders are at it
                Await.until("a few are staged", () -> node.area.pushes() >= pushes + few);
                assertThat(node.prefetcher.stop("gone")).isTrue();
            }
            node.train("seed=1 epochs=1", 1);
        }
    }

    @Test
    void closed_everythingStagedIsDropped() throws Exception {
        Node node = new Node(100_000_000, READ_TIMEOUT_MS);
        node.prefetcher.start(JobSpec.parse("seed=1 epochs=1"), node.dataset.index, true);
        Await.until("something is staged", () -> node.area.count() > 0);
        node.close();
        Await.until("all is dropped, by loaders that were left behind too", () -> node.area.count() == 0);
    }
}
