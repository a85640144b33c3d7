package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From where a sample comes, and how often. What fetches cost is the test's word: on a busy machine any place may seem slow. */
@Timeout(120)
final class FetchRouterTest extends FetchRouterFixture {
    FetchRouterTest() throws Exception {
        super(1e-9);
    }

    @Test
    void sampleThatIsNowhere_comesFromTheSource_andBelongsToTheCallerAlone() throws Exception {
        SampleBuffer buffer = router.fetch(dataset.file(3), false);
        assertThat(dataset.isRight(3, buffer)).isTrue();
        assertThat(router.isUnderWay(dataset.file(3))).isFalse();
        buffer.release();
        assertThat(buffer.tryRetain()).isFalse();
        assertThat(dataset.reads()).containsExactly(3);
        assertThat(counters.fromSource.bytes()).isEqualTo(SIZE);
    }

    @Test
    void newPeer_isTriedByOneFetch_whereTheSourceIsAsQuickAsALocalDisk() throws Exception {
        sourceSeconds = 0.0015;
        peerSeconds = 0.06;
        peers.answersBySample.put(1, false);
        peers.answersBySample.put(2, true);
        requireStaged(1, 0);
        requireStaged(2, 0);
        assertThat(peers.asked).containsExactly(1);
        assertThat(dataset.reads()).containsExactly(1, 2);
    }

    @Test
    void cheapestPlaceThatHasIt_isAsked() throws Exception {
        int file = dataset.file(1);
        assertThat(router.cheapest(file, SIZE)).isEqualTo(Place.SOURCE);
        peers.answersBySample.put(1, true);
        assertThat(router.cheapest(file, SIZE)).isEqualTo(PEER);
        requireFetched(1);
        assertThat(peers.asked).containsExactly(1);
        assertThat(counters.fromPeer.count()).isEqualTo(1);

        putOnDisk(1);
        assertThat(router.cheapest(file, SIZE)).isEqualTo(new Place.Local(DISK));
        requireFetched(1);
        assertThat(disk.operations()).containsExactly("get " + file);
        assertThat(counters.fromSsd.count()).isEqualTo(1);

        SampleBuffer held = dataset.sample(1);
        memory.keep(file, held);
        held.release();
        assertThat(router.cheapest(file, SIZE)).isEqualTo(new Place.Local(0));
        requireFetched(1);
        assertThat(counters.fromMemory.count()).isEqualTo(1);
        assertThat(disk.operations()).isEmpty();
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void placesThatDoNotGiveWhatTheySaid_arePassedOverOnceEach() throws Exception {
        putOnDisk(1);
        disk.damage(dataset.file(1));
        peers.answersBySample.put(1, false);
        requireFetched(1);
        assertThat(disk.operations()).containsExactly("lose " + dataset.file(1));
        assertThat(peers.asked).containsExactly(1);
        assertThat(dataset.reads()).containsExactly(1);
        assertThat(counters.fromSsd.count()).isZero();
        assertThat(counters.fromPeer.count()).isZero();
    }

    @Test
    void diskThatLostASample_getsItBack() throws Exception {
        planAll(DISK);
        putOnDisk(1);
        disk.damage(dataset.file(1));
        requireFetched(1);
        assertThat(admission.writeNext(DISK)).isTrue();
        assertThat(disk.operations()).containsExactly("lose " + dataset.file(1), "keep " + dataset.file(1));
        requireFetched(1);
        assertThat(dataset.reads()).containsExactly(1);
    }

    @Test
    void sampleInALoadersHands_isNotFetchedAgain() throws Exception {
        SampleBuffer mine = router.fetch(dataset.file(2), false);
        inUse.take(dataset.file(2), mine);
        SampleBuffer shared = router.fetch(dataset.file(2), true);
        assertThat(shared).isSameAs(mine);
        inUse.letGo(dataset.file(2), mine);
        mine.release();
        assertThat(dataset.isRight(2, shared)).isTrue();
        shared.release();
        assertThat(dataset.reads()).containsExactly(2);
    }

    @Test
    void sampleOnItsWayToTheDisk_isNotFetchedAgain() throws Exception {
        planAll(DISK);
        requireFetched(2);
        requireFetched(2);
        assertThat(dataset.reads()).containsExactly(2);
        assertThat(counters.fromMemory.count()).isEqualTo(1);
    }

    @Test
    void readersSample_isKeptForTheNextReader_aPrefetchersIsNot() throws Exception {
        SampleBuffer read = router.fetch(dataset.file(1), true);
        read.release();
        assertThat(memory.contains(dataset.file(1))).isTrue();
        requireFetched(2);
        assertThat(memory.contains(dataset.file(2))).isFalse();
    }

    @Test
    void newPlan_movesASampleToTheTierItIsPlannedFor_withoutTheSource() throws Exception {
        planAll(0);
        requireFetched(1);
        planAll(DISK);
        requireFetched(1);
        assertThat(admission.writeNext(DISK)).isTrue();
        assertThat(disk.contains(dataset.file(1))).isTrue();
        memory.evict(dataset.file(1));
        planAll(0);
        requireFetched(1);
        assertThat(memory.contains(dataset.file(1))).isTrue();
        assertThat(dataset.reads()).containsExactly(1);
    }

    private static <T> List<FutureTask<T>> start(int count, Callable<T> work) {
        List<FutureTask<T>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            FutureTask<T> task = new FutureTask<>(work);
            tasks.add(task);
            Thread.ofPlatform().daemon().name("fetch-" + i).start(task);
        }
        return tasks;
    }

    /** Whether the thread waits for what another thread fetches, and not for anything on the way there. */
    private static boolean waitsForAnother(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(CompletableFuture.class.getName())
                        && frame.getMethodName().equals("join"));
    }

    /** Starts threads that fetch the same sample, and returns when all but the one who reads the source wait for it. */
    private List<FutureTask<SampleBuffer>> startWaiting(int count, int sample) throws InterruptedException {
        List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
        List<FutureTask<SampleBuffer>> tasks = start(count, () -> {
            threads.add(Thread.currentThread());
            return router.fetch(dataset.file(sample), false);
        });
        dataset.awaitReads(1);
        Await.until(
                "all wait",
                () -> List.copyOf(threads).stream()
                                .filter(FetchRouterTest::waitsForAnother)
                                .count()
                        == count - 1);
        return tasks;
    }

    @Test
    void whoAsksForASampleUnderWay_waitsForItAndSharesIt() throws Exception {
        CountDownLatch gate = dataset.hang();
        planAll(0);
        List<FutureTask<SampleBuffer>> tasks = startWaiting(12, 5);
        assertThat(router.isUnderWay(dataset.file(5))).isTrue();
        gate.countDown();
        List<SampleBuffer> got = new ArrayList<>();
        for (FutureTask<SampleBuffer> task : tasks) {
            got.add(task.get(60, TimeUnit.SECONDS));
        }
        assertThat(dataset.reads()).containsExactly(5);
        assertThat(got).allMatch(each -> dataset.isRight(5, each));
        got.forEach(SampleBuffer::release);
        memory.evict(dataset.file(5));
        assertThat(got).noneMatch(SampleBuffer::tryRetain);
        assertThat(router.isUnderWay(dataset.file(5))).isFalse();
    }

    /** A router for which each fetch is lost at once. */
    private FetchRouter impatient() {
        return new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, peers),
                FetchLimits.DEFAULT.withLostNs(1),
                router.rates(),
                counters,
                System::nanoTime);
    }

    // Promise W2
    @Test
    void fetchThatIsLost_isMadeAnew_andNobodyWaitsForIt() throws Exception {
        FetchRouter impatient = impatient();
        CountDownLatch lost = dataset.hang();
        FutureTask<SampleBuffer> first = new FutureTask<>(() -> impatient.fetch(dataset.file(5), false));
        Thread.ofPlatform().daemon().start(first);
        dataset.awaitReads(1);
        dataset.hang().countDown(); // from now on the source answers
        SampleBuffer again = impatient.fetch(dataset.file(5), false);
        assertThat(dataset.isRight(5, again)).isTrue();
        assertThat(dataset.reads()).containsExactly(5, 5);
        assertThat(first.isDone()).isFalse();
        lost.countDown();
        SampleBuffer late = first.get(60, TimeUnit.SECONDS);
        assertThat(dataset.isRight(5, late)).isTrue();
        assertThat(impatient.isUnderWay(dataset.file(5))).isFalse();
        again.release();
        late.release();
    }

    // Promise T6
    @Test
    void diskThatHangs_isNotAskedAgainForTheSample() throws Exception {
        putOnDisk(5);
        FetchRouter impatient = impatient();
        CountDownLatch hangs = new CountDownLatch(1);
        disk.hangUntil(hangs);
        FutureTask<SampleBuffer> first = new FutureTask<>(() -> impatient.fetch(dataset.file(5), false));
        Thread.ofPlatform().daemon().start(first);
        Await.until("the disk is asked", () -> impatient.isUnderWay(dataset.file(5)));
        requireRight(5, impatient.fetch(dataset.file(5), false));
        assertThat(dataset.reads()).containsExactly(5);
        assertThat(first.isDone()).isFalse();
        hangs.countDown();
        requireRight(5, first.get(60, TimeUnit.SECONDS));
    }

    private void requireRight(int sample, SampleBuffer came) {
        assertThat(dataset.isRight(sample, came)).isTrue();
        came.release();
    }

    /** A reader has the sample as soon as its bytes are there, and so before it is kept: it is the last who holds it. */
    @Test
    void sampleThatCouldNotBeKeptBecauseOfABug_isNotLeaked() throws Exception {
        admission.follow(_ -> {
            throw new IllegalStateException("injected");
        });
        CountDownLatch gate = dataset.hang();
        FutureTask<SampleBuffer> fetch =
                start(1, () -> router.fetch(dataset.file(1), true)).getFirst();
        dataset.awaitReads(1);
        CompletableFuture<SampleBuffer> reader = new CompletableFuture<>();
        assertThat(router.readers().join(dataset.file(1), SIZE, reader)).isTrue();
        gate.countDown();
        assertThatThrownBy(() -> fetch.get(60, TimeUnit.SECONDS)).cause().hasMessage("injected");
        SampleBuffer read = reader.get(60, TimeUnit.SECONDS);
        assertThat(dataset.isRight(1, read)).isTrue();
        read.release();
        assertThat(read.tryRetain()).isFalse();
        assertThat(router.isUnderWay(dataset.file(1))).isFalse();
    }

    /** Three samples of which one keeps the source busy. */
    private final class BusySource implements AutoCloseable {
        final FakeDataset large = new FakeDataset(3, _ -> InFlightLimit.PIECE_BYTES);
        final MemoryTier room = new MemoryTier(10 * InFlightLimit.PIECE_BYTES);
        final Admission kept = new Admission(large.tree, room, List.of(), 0);
        final FetchRouter busy = new FetchRouter(
                new FetchPlaces(large.tree, large, kept, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                rates,
                counters,
                () -> 0);
        final CountDownLatch gate = large.hang();
        final FutureTask<SampleBuffer> first =
                start(1, () -> busy.fetch(large.file(0), true)).getFirst();

        BusySource() throws Exception {
            kept.follow(_ -> 0);
            large.awaitReads(1);
        }

        FutureTask<FetchRouter.Filling> fill(int sample) {
            int others = busy.waitingForSource();
            FutureTask<FetchRouter.Filling> fill =
                    start(1, () -> busy.fill(large.file(sample), 0)).getFirst();
            Await.until("it waits for its turn", () -> busy.waitingForSource() > others);
            return fill;
        }

        @Override
        public void close() {
            gate.countDown();
            try {
                first.get(60, TimeUnit.SECONDS).release();
            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                throw new AssertionError(e);
            }
            kept.close();
            room.close();
        }
    }

    @Test
    void fillThatThePlanDoesNotWantAnyMoreWhenItsTurnComes_readsNothing() throws Exception {
        try (BusySource source = new BusySource()) {
            FutureTask<FetchRouter.Filling> fill = source.fill(1);
            source.kept.follow(_ -> LocalPlan.NOWHERE);
            source.gate.countDown();
            assertThat(fill.get(60, TimeUnit.SECONDS)).isEqualTo(FetchRouter.Filling.NOT_NEEDED);
            assertThat(source.large.reads()).containsExactly(0);
        }
    }

    @Test
    void fillThatSomebodyElseJoined_isFetchedWhateverThePlanWants_once() throws Exception {
        try (BusySource source = new BusySource()) {
            FutureTask<FetchRouter.Filling> fill = source.fill(1);
            CompletableFuture<SampleBuffer> reader = new CompletableFuture<>();
            assertThat(source.busy.readers().join(source.large.file(1), 10, reader))
                    .isTrue();
            source.kept.follow(_ -> LocalPlan.NOWHERE);
            source.gate.countDown();
            SampleBuffer read = reader.get(60, TimeUnit.SECONDS);
            assertThat(source.large.isRight(1, read)).isTrue();
            read.release();
            assertThat(fill.get(60, TimeUnit.SECONDS)).isEqualTo(FetchRouter.Filling.BROUGHT);
            assertThat(source.large.reads()).containsExactly(0, 1);
        }
    }

    @Test
    void fillThatAReaderBeginsToWaitFor_overtakesWhatIsStaged() throws Exception {
        try (BusySource source = new BusySource()) {
            FutureTask<SampleBuffer> staged = start(
                            1, () -> source.busy.fetch(source.large.file(2), 0, new FakeStager(0)))
                    .getFirst();
            Await.until("it waits for its turn", () -> source.busy.waitingForSource() == 1);
            FutureTask<FetchRouter.Filling> fill = source.fill(1);
            CompletableFuture<SampleBuffer> reader = new CompletableFuture<>();
            assertThat(source.busy.readers().join(source.large.file(1), 10, reader))
                    .isTrue();
            source.gate.countDown();
            reader.get(60, TimeUnit.SECONDS).release();
            staged.get(60, TimeUnit.SECONDS).release();
            assertThat(fill.get(60, TimeUnit.SECONDS)).isEqualTo(FetchRouter.Filling.BROUGHT);
            assertThat(source.large.reads()).containsExactly(0, 1, 2);
        }
    }

    // Promise E2
    @Test
    void failureOfTheSource_reachesAllWhoWait_andTheNextTriesAgain() throws Exception {
        CountDownLatch gate = dataset.hang();
        dataset.fail(true);
        List<FutureTask<SampleBuffer>> tasks = startWaiting(12, 5);
        gate.countDown();
        for (FutureTask<SampleBuffer> task : tasks) {
            assertThatThrownBy(() -> task.get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(SourceFailedException.class)
                    .hasMessageContaining("injected");
        }
        assertThat(dataset.reads()).containsExactly(5);
        assertThat(router.isUnderWay(dataset.file(5))).isFalse();
        assertThat(memory.samples()).isZero();
        dataset.fail(false);
        requireFetched(5);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void manyThreadsOverAllSamples_theSourceIsReadOnceForEach(long seed) throws Exception {
        System.out.println("seed " + seed);
        admission.follow(file -> file % 2);
        int threads = 6;
        CyclicBarrier together = new CyclicBarrier(threads + 1);
        AtomicInteger number = new AtomicInteger();
        List<FutureTask<@Nullable Void>> tasks = start(threads, () -> {
            Random random = new Random(seed * 31 + number.getAndIncrement());
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, SAMPLES).boxed().toList());
            Collections.shuffle(order, random);
            together.await(60, TimeUnit.SECONDS);
            for (int sample : order) {
                requireFetched(sample);
                admission.writeNext(DISK);
            }
            return null;
        });
        together.await(60, TimeUnit.SECONDS);
        for (FutureTask<@Nullable Void> task : tasks) {
            task.get(60, TimeUnit.SECONDS);
        }
        for (int sample = 0; sample < SAMPLES; sample++) {
            assertThat(dataset.readsOf(sample)).as("reads of " + sample).isEqualTo(1);
        }
        assertThat(counters.fromSource.count()).isEqualTo(SAMPLES);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void sourceThatFailsNowAndThen_nothingIsLostAndNobodyHangs(long seed) throws Exception {
        System.out.println("seed " + seed);
        planAll(0);
        AtomicInteger number = new AtomicInteger();
        List<FutureTask<@Nullable Void>> tasks = start(6, () -> {
            Random random = new Random(seed * 31 + number.getAndIncrement());
            for (int n = 0; n < 3_000; n++) {
                dataset.fail(random.nextInt(3) == 0);
                int sample = random.nextInt(SAMPLES);
                try {
                    requireFetched(sample);
                } catch (SourceFailedException e) {
                    assertThat(e).hasMessageContaining("injected");
                }
                if (random.nextBoolean()) {
                    memory.evict(dataset.file(random.nextInt(SAMPLES)));
                }
            }
            return null;
        });
        for (FutureTask<@Nullable Void> task : tasks) {
            task.get(60, TimeUnit.SECONDS);
        }
        for (int sample = 0; sample < SAMPLES; sample++) {
            assertThat(router.isUnderWay(dataset.file(sample))).isFalse();
        }
    }
}
