package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** A router over a source, a disk and peers that are as slow as a test wants, and a memory tier. */
abstract class FetchRouterFixture {
    static final int SAMPLES = 60;

    /** One more, which is too large to be fetched for nobody. */
    static final int LARGE = SAMPLES;

    static final int LARGE_BYTES = (16 << 20) + 1;
    static final long SIZE = 100;
    static final long WINDOW_BYTES = 1 << 20;
    static final int DISK = 1;
    static final Place.Peer PEER = new Place.Peer(0);

    final FakeDataset dataset;
    final MemoryTier memory = new MemoryTier(SAMPLES * SIZE);
    final RecordingTier disk = new RecordingTier(SAMPLES * SIZE);
    final FakePeers peers = new FakePeers();
    final SamplesInUse inUse = new SamplesInUse(SamplesInUse.READERS_BYTES, () -> 0);
    final Counters counters = new Counters();
    final Admission admission;
    final ObservedRates rates;
    final FetchRouter router;
    final List<Runnable> besides = new CopyOnWriteArrayList<>();
    boolean besidesFails;

    /** The router's time, in which nothing passes but what a test says: what peers take is none, however long this machine is busy with others. */
    final AtomicLong nowNs = new AtomicLong();

    volatile double peerSeconds = 1e-2;
    volatile double diskSeconds = 1e-4;
    volatile double sourceSeconds = 1;
    volatile boolean silent;

    /** What peers wait for before they answer; null for nothing. */
    volatile @Nullable CountDownLatch peersAnswer;

    /** What fetches take corrects what they cost. */
    FetchRouterFixture() throws Exception {
        this(60);
    }

    /** The same, but what a fetch took is forgotten after {@code memorySeconds}: at once, and costs are what the test says. */
    FetchRouterFixture(double memorySeconds) throws Exception {
        dataset = new FakeDataset(SAMPLES + 1, sample -> sample == LARGE ? LARGE_BYTES : SIZE);
        admission = new Admission(dataset.tree, memory, List.of(disk), 10 * SIZE);
        FetchCosts costs = (place, _) -> switch (place) {
            case Place.Source() -> sourceSeconds;
            case Place.Peer _ -> peerSeconds;
            case Place.Local(int tier) -> tier == DISK ? diskSeconds : 1e-6;
        };
        rates = new ObservedRates(costs, memorySeconds, System::nanoTime);
        router = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, peers),
                FetchLimits.DEFAULT,
                rates,
                counters,
                nowNs::get,
                this::besides);
    }

    private void besides(Runnable trial) {
        if (besidesFails) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        besides.add(trial);
    }

    @AfterEach
    void close() {
        admission.close();
        memory.close();
        disk.close();
        inUse.close();
    }

    /** Peers that are known to have some samples, and give them or not. */
    final class FakePeers implements PeerFetch {
        final ConcurrentHashMap<Integer, Boolean> answersBySample = new ConcurrentHashMap<>();
        final Set<Integer> homes = ConcurrentHashMap.newKeySet();
        final List<Integer> asked = Collections.synchronizedList(new ArrayList<>());

        @Override
        public boolean mayHave(int file) {
            return answersBySample.containsKey(dataset.index.sampleOf(file));
        }

        @Override
        public List<Holder> holders(int file) {
            int sample = dataset.index.sampleOf(file);
            return mayHave(file) ? List.of(new FakeHolder(sample)) : List.of();
        }

        @Override
        public long mostNs(long bytes) {
            return TimeUnit.SECONDS.toNanos(2);
        }

        private final class FakeHolder implements Holder {
            private final int sample;

            FakeHolder(int sample) {
                this.sample = sample;
            }

            @Override
            public Place.Peer place() {
                return PEER;
            }

            @Override
            public boolean holds() {
                return !homes.contains(sample);
            }

            @Override
            public @Nullable Delivery fetch(long withinNs) {
                asked.add(sample);
                CountDownLatch answer = peersAnswer;
                if (answer != null) {
                    Await.until("the peer may answer", () -> answer.getCount() == 0);
                }
                if (silent) {
                    nowNs.addAndGet(withinNs);
                    return null;
                }
                return answersBySample.getOrDefault(sample, false) ? new Delivery(dataset.sample(sample), 0) : null;
            }

            @Override
            public CompletableFuture<@Nullable Delivery> ask(long withinNs) {
                return CompletableFuture.supplyAsync(() -> fetch(withinNs));
            }

            @Override
            public long windowBytes() {
                return WINDOW_BYTES;
            }
        }
    }

    void planAll(int tier) {
        admission.follow(_ -> tier);
    }

    void requireFetched(int sample) throws SourceException {
        SampleBuffer buffer = router.fetch(dataset.file(sample), false);
        assertThat(dataset.isRight(sample, buffer)).isTrue();
        buffer.release();
    }

    void requireStaged(int sample, double spareSeconds) throws SourceException {
        SampleBuffer buffer = router.fetch(dataset.file(sample), 0, new FakeStager(spareSeconds));
        assertThat(dataset.isRight(sample, buffer)).isTrue();
        inUse.letGo(dataset.file(sample), buffer);
        buffer.release();
    }

    void putOnDisk(int sample) {
        SampleBuffer buffer = dataset.sample(sample);
        assertThat(disk.keep(dataset.file(sample), buffer)).isTrue();
        buffer.release();
        disk.operations();
    }
}
