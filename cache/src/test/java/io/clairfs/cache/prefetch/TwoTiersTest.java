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
import io.clairfs.cache.placement.NodePlanner;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.CountingSource;
import io.clairfs.cache.testing.ReadBytes;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.ssd.SsdTier;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory and SSD together over real files, with the planner: what the source is read, and what a damaged disk does to it. */
@Timeout(240)
final class TwoTiersTest {
    private static final int SAMPLES = 600;
    private static final int LARGEST = 20_000;
    private static final int EPOCHS = 5;
    private static final long STAGING = 200_000;

    private @TempDir Path directory;
    private @TempDir Path ssdRoot;

    private final class Node implements AutoCloseable {
        final SmallDataset dataset = new SmallDataset(directory, SAMPLES, LARGEST, 11);
        final long total = dataset.tree.fileBytes();
        final CountingSource source = new CountingSource(dataset.source, new CountDownLatch(1));
        final MemoryTier memory = new MemoryTier(total / 9);
        final List<String> told = new CopyOnWriteArrayList<>();
        final SsdTier ssd;
        final RecordingArea area = new RecordingArea();
        final Counters counters = new Counters();
        final ErrorLog errors = new ErrorLog(Clock.systemUTC());
        final SamplesInUse inUse = new SamplesInUse();
        final Admission admission;
        final SampleReader reader;
        final Prefetcher prefetcher;

        Node() throws Exception {
            ssd = new SsdTier(ssdRoot, directory.toString(), 2 * total / 9, 0, System::nanoTime, told::add);
            ssd.recover(dataset.tree);
            admission = new Admission(dataset.tree, memory, List.of(ssd), 4 << 20);
            NodeStorage storage =
                    NodeStorage.of(StorageClass.memory(memory.capacityBytes()), StorageClass.ssd(ssd.capacityBytes()));
            PerformanceModel model = PerformanceModel.unmeasured();
            // What fetches cost is the model's word: here the source is as fast as the tiers, and would be asked now
            // and then.
            ObservedRates rates = new ObservedRates(FetchCosts.of(model, storage, 1), 1e-9, System::nanoTime);
            FetchRouter router = new FetchRouter(
                    new FetchPlaces(dataset.tree, source, admission, inUse, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    rates,
                    counters,
                    System::nanoTime);
            reader = new SampleReader(dataset.tree, source, router, inUse, counters, errors, 30_000);
            prefetcher = new Prefetcher(
                    dataset.tree,
                    router,
                    admission,
                    inUse,
                    NodePlanner.alone(
                            dataset.tree, admission, () -> storage, model, PlacementPolicy.CLAIRFS, PlanLimits.DEFAULT),
                    area,
                    new PrefetchSettings(STAGING, 1000, 3, List.of(1, 1), PrefetchSettings.Sharing.BALANCED),
                    counters,
                    errors);
        }

        /** Starts a job. The source answers when the plan is made, which takes as long here as an epoch of so fast a trainer. */
        JobRun start(String line) throws Exception {
            JobRun run = prefetcher.start(JobSpec.parse(line), dataset.index, true);
            Await.until("the plan is followed", () -> {
                for (int sample = 0; sample < SAMPLES; sample++) {
                    if (admission.plannedFor(dataset.index.file(sample)) != null) {
                        return true;
                    }
                }
                return false;
            });
            source.gate.countDown();
            return run;
        }

        /** Reads the steps of one epoch as a trainer does, each sample when it is staged, and looks at its bytes. */
        void train(JobRun run, int epoch, int from, int to) throws Exception {
            EpochOrder order = run.orders().epoch(epoch);
            for (int step = from; step < to; step++) {
                int file = dataset.index.file(order.sample(0, step));
                requireRight(file, awaitStaged(file));
                prefetcher.read(new int[] {file}, 1);
            }
        }

        /** Between epochs a trainer pauses; the disk has caught up by then. Otherwise the queue before it would hold more samples. */
        void pause() {
            Await.until("nothing is on its way to the disk", () -> {
                for (int sample = 0; sample < SAMPLES; sample++) {
                    int file = dataset.index.file(sample);
                    if (admission.residents().isInMemory(file) && !memory.contains(file)) {
                        return false;
                    }
                }
                return true;
            });
        }

        private byte[] awaitStaged(int file) {
            AtomicReference<byte @Nullable []> seen = new AtomicReference<>();
            Await.until("file " + file + " is staged", () -> {
                seen.set(area.bytes(file));
                return seen.get() != null;
            });
            return Objects.requireNonNull(seen.get());
        }

        void requireRight(int file, byte[] bytes) throws IOException {
            byte[] expected = Files.readAllBytes(
                    directory.resolve(new String(dataset.tree.entry(file).path(), UTF_8)));
            assertThat(bytes).as("bytes of file " + file).isEqualTo(expected);
        }

        /** The files that the plan wants on the SSD. */
        List<Integer> plannedForSsd() {
            return IntStream.range(0, SAMPLES)
                    .map(dataset.index::file)
                    .filter(file -> ssd.name().equals(admission.plannedFor(file)))
                    .boxed()
                    .toList();
        }

        /** What the tiers hold, bytes of samples. */
        long heldBytes() {
            long held = 0;
            for (int sample = 0; sample < SAMPLES; sample++) {
                int file = dataset.index.file(sample);
                held += memory.contains(file) || ssd.contains(file) ? dataset.tree.fileSize(file) : 0;
            }
            return held;
        }

        @Override
        public void close() {
            source.gate.countDown();
            prefetcher.close();
            reader.close();
            admission.close();
            inUse.close();
            memory.close();
            ssd.close();
            dataset.close();
        }
    }

    @Test
    void fiveEpochs_theSourceIsReadWhatTheTiersCannotHold() throws Exception {
        try (Node node = new Node()) {
            JobRun run = node.start("seed=1 epochs=" + EPOCHS);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                node.train(run, epoch, 0, SAMPLES);
                node.pause();
            }
            long capacity = node.memory.capacityBytes() + node.ssd.capacityBytes();
            long expected = node.total + (EPOCHS - 1) * (node.total - capacity);
            assertThat(node.heldBytes()).isBetween(capacity - capacity / 10, capacity);
            long fewSamples = 5L * LARGEST;
            assertThat(node.source.bytes.get())
                    .as("of %d bytes, %d of them cached", node.total, node.heldBytes())
                    .isBetween(expected - expected / 100 - fewSamples, expected + expected / 100 + fewSamples);
            assertThat(node.counters.fromSource.bytes()).isEqualTo(node.source.bytes.get());
            assertThat(node.counters.fromSsd.count()).isPositive();
            assertThat(node.counters.fromMemory.count()).isPositive();
            assertThat(run.progress().done()).isTrue();
            assertThat(node.told).isEmpty();
            assertThat(node.errors.total()).isZero();
        }
    }

    @Test
    void everySsdFileDamagedInMidEpoch_everySampleIsRightAndComesBack() throws Exception {
        try (Node node = new Node()) {
            JobRun run = node.start("seed=2 epochs=" + EPOCHS);
            node.train(run, 0, 0, SAMPLES);
            node.train(run, 1, 0, SAMPLES / 2);
            node.pause();
            List<Integer> wanted = node.plannedForSsd();
            assertThat(wanted).isNotEmpty();
            int files = damageEverySsdFile();
            assertThat(files).isGreaterThan(5);
            node.train(run, 1, SAMPLES / 2, SAMPLES);
            for (int epoch = 2; epoch < EPOCHS; epoch++) {
                node.train(run, epoch, 0, SAMPLES);
            }
            assertThat(node.ssd.failures().checksums()).isBetween(files / 2L, (long) files);
            assertThat(node.told).isNotEmpty();
            // Not so many samples as before: what is left of the room has copies, and how many fit differs.
            Await.until("they come back", () -> wanted.stream().allMatch(node.ssd::contains));
            requireAllRight(node);
            assertThat(node.ssd.failures().checksums()).isBetween(files / 2L, (long) files);
        }
    }

    private static void requireAllRight(Node node) throws IOException, SourceException {
        for (int sample = 0; sample < SAMPLES; sample++) {
            int file = node.dataset.index.file(sample);
            node.requireRight(file, ReadBytes.of(node.reader, file, 0, LARGEST));
            SampleBuffer kept = node.ssd.get(file);
            if (kept != null) {
                node.requireRight(file, kept.bytes().toArray(ValueLayout.JAVA_BYTE));
                kept.release();
            }
        }
    }

    /** Turns one byte in the middle of each data file around. Returns how many there were. */
    private int damageEverySsdFile() throws IOException {
        List<Path> files;
        try (Stream<Path> tiers = Files.list(ssdRoot);
                Stream<Path> all = Files.list(tiers.findFirst().orElseThrow())) {
            files = all.filter(file -> file.toString().endsWith(".data")).toList();
        }
        int damaged = 0;
        for (Path file : files) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                long at = channel.size() / 2;
                ByteBuffer one = ByteBuffer.allocate(1);
                channel.read(one, at);
                one.put(0, (byte) ~one.get(0)).flip();
                channel.write(one, at);
                damaged++;
            } catch (NoSuchFileException e) {
                // Its samples were moved to another, which is damaged as well or newer.
            }
        }
        return damaged;
    }
}
