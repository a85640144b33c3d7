package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.foreign.MemorySegment;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that answers when the test lets it, and two loaders. */
@Timeout(120)
final class AheadQueueTest {
    private static final int SAMPLES = 400;
    private static final int BYTES = 1000;
    private static final int ANSWERS_TO_BE_KNOWN = 64;
    private static final int LOADERS = 2;
    private static final long WINDOW_BYTES = 100_000;
    private static final long STAGING_BYTES = 300_000;
    private static final Place.Peer PEER = new Place.Peer(0);

    private final RecordingArea area = new RecordingArea();
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final SamplesInUse inUse = new SamplesInUse();
    private final MemoryTier memory = new MemoryTier(1);
    private final Peer peer = new Peer();
    private final Counters counters = new Counters();
    private FakeDataset dataset;
    private FetchRouter router;
    private Prefetcher prefetcher;

    @BeforeEach
    void begin() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> BYTES);
        Admission admission = new Admission(dataset.tree, memory, List.of(), 1 << 20);
        // However long the test lets the peer wait, it is nearer than the source.
        FetchCosts costs = (place, _) -> place instanceof Place.Source ? 100_000 : 1e-3;
        router = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, peer),
                FetchLimits.DEFAULT,
                new ObservedRates(costs, 60, System::nanoTime),
                counters,
                System::nanoTime);
        prefetcher = new Prefetcher(
                dataset.tree,
                router,
                admission,
                inUse,
                _ -> LocalPlan.NONE,
                area,
                new PrefetchSettings(STAGING_BYTES, SAMPLES, LOADERS, List.of(1), PrefetchSettings.Sharing.FIXED),
                counters,
                errors);
    }

    @AfterEach
    void end() {
        peer.giveAll = true;
        peer.answerAll();
        prefetcher.close();
        inUse.close();
        memory.close();
        dataset.tree.close();
    }

    /** Holds every sample. */
    private final class Peer implements PeerFetch {
        private final Map<Integer, CompletableFuture<PeerFetch.@Nullable Delivery>> asked = new ConcurrentHashMap<>();
        private final Map<Integer, Integer> asks = new ConcurrentHashMap<>();
        private volatile boolean giveAll;
        private volatile boolean refuses;

        @Override
        public boolean mayHave(int file) {
            return true;
        }

        @Override
        public List<Holder> holders(int file) {
            return List.of(new Holder() {
                @Override
                public Place.Peer place() {
                    return PEER;
                }

                @Override
                public boolean holds() {
                    return true;
                }

                @Override
                public @Nullable Delivery fetch(long withinNs) {
                    if (refuses) {
                        return null;
                    }
                    return ask(withinNs).join();
                }

                @Override
                public CompletableFuture<@Nullable Delivery> ask(long withinNs) {
                    asks.merge(file, 1, Integer::sum);
                    CompletableFuture<@Nullable Delivery> answer = new CompletableFuture<>();
                    asked.put(file, answer);
                    if (giveAll) {
                        answer(file, true);
                    }
                    return answer;
                }

                @Override
                public long windowBytes() {
                    return WINDOW_BYTES;
                }
            });
        }

        @Override
        public long mostNs(long bytes) {
            return TimeUnit.HOURS.toNanos(1);
        }

        private void answer(int file, boolean gives) {
            CompletableFuture<@Nullable Delivery> answer = asked.remove(file);
            if (answer != null) {
                answer.complete(gives ? new Delivery(dataset.sample(dataset.index.sampleOf(file)), 0) : null);
            }
        }

        private void answerAll() {
            asked.keySet().forEach(file -> answer(file, true));
        }

        private long owedBytes() {
            return asked.keySet().stream()
                    .mapToLong(file -> dataset.tree.entry(file).size())
                    .sum();
        }
    }

    private void start() throws Exception {
        peer.giveAll = true;
        for (int sample = 0; sample < ANSWERS_TO_BE_KNOWN; sample++) {
            router.fetch(dataset.file(sample), false).release();
        }
        peer.giveAll = false;
        peer.asks.clear();
        prefetcher.start(JobSpec.parse("seed=1 epochs=2 batch=8"), dataset.index, true);
    }

    @Test
    void asManyAreOnTheirWayAsThePathHolds_howeverFewLoadersThereAre() throws Exception {
        start();
        Await.until("the window is full", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        assertThat(peer.owedBytes()).isEqualTo(WINDOW_BYTES);
        assertThat(WINDOW_BYTES / BYTES).isGreaterThan(10 * LOADERS);
        List<Integer> files = List.copyOf(peer.asked.keySet());
        files.forEach(file -> peer.answer(file, true));
        for (int file : files) {
            Await.until("file " + file + " is staged", () -> area.has(file));
        }
        Await.until("the next are on their way", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void whatThePeerDoesNotGive_comesFromTheSource() throws Exception {
        start();
        Await.until("the window is full", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        List<Integer> files = List.copyOf(peer.asked.keySet());
        files.forEach(file -> peer.answer(file, false));
        for (int file : files) {
            Await.until("file " + file + " is staged", () -> area.has(file));
            assertThat(dataset.reads()).contains(dataset.index.sampleOf(file));
        }
        assertThat(errors.lines()).isEmpty();
    }

    /** Whether the thread waits for what is under way already, and not for anything on the way there. */
    private static boolean waitsForAnother(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(CompletableFuture.class.getName())
                        && frame.getMethodName().equals("join"));
    }

    @Test
    void sampleThatIsOnItsWay_isAskedForOnce() throws Exception {
        start();
        Await.until("the window is full", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        int file = peer.asked.keySet().iterator().next();
        CompletableFuture<SampleBuffer> read = new CompletableFuture<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                read.complete(router.fetch(file, true));
            } catch (SourceException e) {
                read.completeExceptionally(e);
            }
        });
        Await.until("the reader waits", () -> waitsForAnother(reader));
        peer.answer(file, true);
        SampleBuffer sample = read.join();
        assertThat(dataset.isRight(dataset.index.sampleOf(file), sample)).isTrue();
        sample.release();
        Await.until("it is staged", () -> area.has(file));
        assertThat(peer.asks).containsEntry(file, 1);
        assertThat(dataset.reads()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reader_whosePeerDoesNotGive_waitsForNoLoader(boolean comesBefore) throws Exception {
        start();
        Await.until("the window is full", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        int loaders = StagingPrefetcher.threads(LOADERS);
        List<Integer> files = List.copyOf(peer.asked.keySet());
        int file = files.getLast();
        CountDownLatch loadersHang = dataset.hang();
        try (SampleReader reader = reader()) {
            files.subList(0, loaders).forEach(other -> peer.answer(other, false));
            dataset.awaitReads(loaders);
            dataset.hang().countDown(); // the next reads do not
            CompletableFuture<Long> read;
            if (comesBefore) {
                read = read(reader, file);
                peer.answer(file, false);
            } else {
                peer.answer(file, false);
                Await.until("the answer is seen", () -> !router.isUnderWay(file));
                peer.refuses = true;
                read = read(reader, file);
            }
            assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo(BYTES);
        } finally {
            loadersHang.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reader_whoseJobEnds_hasItsSampleAllTheSame(boolean gives) throws Exception {
        start();
        Await.until("the window is full", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        int file = peer.asked.keySet().iterator().next();
        try (SampleReader reader = reader()) {
            CompletableFuture<Long> read = read(reader, file);
            assertThat(prefetcher.stop(JobSpec.DEFAULT_NAME)).isTrue();
            assertThat(read).isNotDone();
            peer.answer(file, gives);
            assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo(BYTES);
        }
        assertThat(dataset.reads()).hasSize(gives ? 0 : 1);
    }

    private SampleReader reader() {
        return new SampleReader(dataset.tree, dataset, router, inUse, counters, errors, TimeUnit.HOURS.toMillis(1));
    }

    /** The length of what a reader gets. */
    private CompletableFuture<Long> read(SampleReader reader, int file) {
        CompletableFuture<Long> read = new CompletableFuture<>();
        reader.read(file, 0, BYTES, reader.timeoutMs(), new SampleReader.Asker() {
            @Override
            public void bytes(MemorySegment bytes) {
                read.complete(bytes.byteSize());
            }

            @Override
            public void failed(Throwable reason) {
                read.completeExceptionally(reason);
            }
        });
        return read;
    }

    private static boolean isFree(SampleBuffer sample) {
        boolean isHeld = sample.tryRetain();
        if (isHeld) {
            sample.release();
        }
        return !isHeld;
    }

    @Test
    void answerThatComesAfterTheEnd_isReleased() throws Exception {
        start();
        Await.until("the window is full", () -> peer.owedBytes() > WINDOW_BYTES - BYTES);
        prefetcher.close();
        int file = peer.asked.keySet().iterator().next();
        SampleBuffer late = dataset.sample(dataset.index.sampleOf(file));
        CompletableFuture<PeerFetch.@Nullable Delivery> answer = Objects.requireNonNull(peer.asked.remove(file));
        assertThat(answer.complete(new PeerFetch.Delivery(late, 0))).isTrue();
        // by this thread, or by one that was left behind at the end and has taken the answer
        Await.until("it is released", () -> isFree(late));
        Await.until("its flight has ended", () -> !router.isUnderWay(file));
    }
}
