package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.ReadBytes;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.foreign.MemorySegment;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where a reader's bytes come from. Sample 0 is too large to be fetched for a reader of a part of it, the last has 4 MiB, the others are small. */
@Timeout(120)
final class SampleReaderTest {
    private static final int SAMPLES = 302;
    private static final long SMALL = 100;
    private static final long LARGE = SamplesInUse.READERS_BYTES / 4 + 10_000;
    private static final int LARGE_ONE = 0;
    private static final long MIDDLE = SampleReader.LEAST_IN_PARTS_BYTES;
    private static final int MIDDLE_ONE = SAMPLES - 1;
    private static final long TIMEOUT_MS = 60_000;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(2 * LARGE);
    private final RecordingTier disk = new RecordingTier(2 * LARGE);
    private final SamplesInUse inUse = new SamplesInUse(SamplesInUse.READERS_BYTES, () -> 0);
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final Counters counters = new Counters();
    private final Admission admission;
    private final FetchRouter router;
    private final SampleReader reader;

    SampleReaderTest() throws Exception {
        dataset =
                new FakeDataset(SAMPLES, sample -> sample == LARGE_ONE ? LARGE : sample == MIDDLE_ONE ? MIDDLE : SMALL);
        admission = new Admission(dataset.tree, memory, List.of(disk), LARGE);
        router = router(new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime));
        reader = new SampleReader(dataset.tree, dataset, router, inUse, counters, errors, TIMEOUT_MS);
    }

    private FetchRouter router(ObservedRates rates) {
        return new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                rates,
                counters,
                System::nanoTime);
    }

    @AfterEach
    void close() {
        reader.close();
        admission.close();
        memory.close();
        disk.close();
        inUse.close();
    }

    private void requireRead(int sample, long offset, int bytes) throws Exception {
        SampleBuffer right = dataset.sample(sample);
        try {
            byte[] read = ReadBytes.of(reader, dataset.file(sample), offset, bytes);
            assertThat(read).hasSize(bytes);
            assertThat(MemorySegment.ofArray(read).mismatch(right.bytes().asSlice(offset, bytes)))
                    .isEqualTo(-1);
        } finally {
            right.release();
        }
    }

    private void put(io.clairfs.cache.tier.Tier tier, int sample) {
        SampleBuffer buffer = dataset.sample(sample);
        assertThat(tier.keep(dataset.file(sample), buffer)).isTrue();
        buffer.release();
    }

    @Test
    void largeSampleInMemory_isServedFromThere() throws Exception {
        put(memory, LARGE_ONE);
        dataset.fail(true);
        requireRead(LARGE_ONE, 1_000_000, 1000);
        requireRead(LARGE_ONE, LARGE - 1000, 1000);
        assertThat(dataset.reads()).isEmpty();
    }

    // Promise C3
    @Test
    void largeSampleOnADisk_isReadFromThereOnce_forAllRequestsThatFollow() throws Exception {
        put(disk, LARGE_ONE);
        disk.operations();
        dataset.fail(true);
        requireRead(LARGE_ONE, 0, 1000);
        requireRead(LARGE_ONE, 1000, 1000);
        requireRead(LARGE_ONE, LARGE - 1000, 1000);
        assertThat(disk.operations()).containsExactly("get " + dataset.file(LARGE_ONE));
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void largeSampleThatIsNowhere_isReadPieceByPiece() throws Exception {
        requireRead(LARGE_ONE, 5000, 1000);
        assertThat(counters.fromSource.bytes()).isEqualTo(1000);
        dataset.fail(true);
        assertThatThrownBy(() -> requireRead(LARGE_ONE, 6000, 1000)).isInstanceOf(SourceFailedException.class);
    }

    @Test
    void stagedSampleOfWhichPagesAreGone_isReadByTheirParts_andAnotherAsAWhole() throws Exception {
        int staged = dataset.file(MIDDLE_ONE);
        reader.stagedBy(file -> file == staged);
        requireRead(MIDDLE_ONE, 5000, 1000);
        assertThat(counters.fromSource.bytes()).isEqualTo(1000);
        reader.stagedBy(_ -> false);
        requireRead(MIDDLE_ONE, 5000, 1000);
        Await.until("all of it has come", () -> counters.fromSource.bytes() == 1000 + MIDDLE);
    }

    @Test
    void largeSampleUnderWay_isServedAsItArrives_andNotReadOnceMore() throws Exception {
        CountDownLatch gate = dataset.hangFrom(2 * InFlightLimit.PIECE_BYTES);
        FutureTask<SampleBuffer> staged =
                new FutureTask<>(() -> router.fetch(dataset.file(LARGE_ONE), 0, new FakeStager(0)));
        Thread.ofPlatform().daemon().start(staged);
        dataset.awaitReads(3);
        requireRead(LARGE_ONE, 0, 1000);
        requireRead(LARGE_ONE, 2 * InFlightLimit.PIECE_BYTES - 1000, 1000);
        // on this thread, which goes on once the reader waits for the fetch
        CompletableFuture<byte[]> last = ReadBytes.ask(reader, dataset.file(LARGE_ONE), LARGE - 1000, 1000);
        assertThat(last).isNotDone();
        gate.countDown();
        SampleBuffer right = dataset.sample(LARGE_ONE);
        assertThat(MemorySegment.ofArray(last.get(60, TimeUnit.SECONDS))
                        .mismatch(right.bytes().asSlice(LARGE - 1000)))
                .isEqualTo(-1);
        right.release();
        staged.get(60, TimeUnit.SECONDS).release();
        assertThat(dataset.readsOf(LARGE_ONE)).isEqualTo(Math.ceilDiv(LARGE, InFlightLimit.PIECE_BYTES));
    }

    // Promise W1
    @Test
    void endOfALargeSample_isReadFromTheSource_whileAFetchIsFarBehind_andItsFrontFromTheFetch() throws Exception {
        FetchRouter slow = router(new ObservedRates((_, bytes) -> bytes * 1e-7, 60, System::nanoTime)); // 10 MB/s
        CountDownLatch gate = dataset.hangFrom(2 * InFlightLimit.PIECE_BYTES);
        FutureTask<SampleBuffer> staged =
                new FutureTask<>(() -> slow.fetch(dataset.file(LARGE_ONE), 0, new FakeStager(0)));
        Thread.ofPlatform().daemon().start(staged);
        dataset.awaitReads(3);
        dataset.hangFrom(LARGE); // the reads from now on do not hang
        try (SampleReader patient =
                new SampleReader(dataset.tree, dataset, slow, inUse, counters, errors, TIMEOUT_MS)) {
            SampleBuffer right = dataset.sample(LARGE_ONE);
            byte[] end = ReadBytes.of(patient, dataset.file(LARGE_ONE), LARGE - 1000, 1000);
            assertThat(MemorySegment.ofArray(end).mismatch(right.bytes().asSlice(LARGE - 1000)))
                    .isEqualTo(-1);
            assertThat(staged).as("the fetch is still at its third piece").isNotDone();
            assertThat(ReadBytes.of(patient, dataset.file(LARGE_ONE), 0, 1000)).hasSize(1000);
            assertThat(dataset.readsOf(LARGE_ONE))
                    .as("three pieces, and the end")
                    .isEqualTo(4);
            right.release();
        } finally {
            gate.countDown();
        }
        staged.get(60, TimeUnit.SECONDS).release();
    }

    @Test
    void readerOfALargeSampleThatComesFromADisk_waitsForThat_andAsksTheSourceNothing() throws Exception {
        FetchRouter slow = router(new ObservedRates((_, bytes) -> bytes * 1e-7, 60, System::nanoTime)); // 10 MB/s
        put(disk, LARGE_ONE);
        CountDownLatch gate = new CountDownLatch(1);
        disk.hangUntil(gate);
        disk.operations();
        FutureTask<SampleBuffer> staged =
                new FutureTask<>(() -> slow.fetch(dataset.file(LARGE_ONE), 0, new FakeStager(0)));
        Thread.ofPlatform().daemon().start(staged);
        Await.until("the disk is asked", () -> slow.isUnderWay(dataset.file(LARGE_ONE)));
        try (SampleReader patient =
                new SampleReader(dataset.tree, dataset, slow, inUse, counters, errors, TIMEOUT_MS)) {
            CompletableFuture<byte[]> end = ReadBytes.ask(patient, dataset.file(LARGE_ONE), LARGE - 1000, 1000);
            gate.countDown();
            assertThat(end.get(60, TimeUnit.SECONDS)).hasSize(1000);
        } finally {
            gate.countDown();
        }
        staged.get(60, TimeUnit.SECONDS).release();
        assertThat(dataset.reads()).isEmpty();
    }

    // Promise W1
    @Test
    void largeSampleThatADiskHasLost_isReadFromTheSourceByItsParts() throws Exception {
        put(disk, LARGE_ONE);
        disk.damage(dataset.file(LARGE_ONE));
        requireRead(LARGE_ONE, 5000, 1000);
        assertThat(counters.fromSource.bytes()).isEqualTo(1000);
    }

    // Promise W1
    @Test
    void readerWhoWaitsForADiskThatLostALargeSample_readsItsPart_whileTheLoaderReadsTheWhole() throws Exception {
        FetchRouter slow = router(new ObservedRates((_, bytes) -> bytes * 1e-7, 60, System::nanoTime)); // 10 MB/s
        put(disk, LARGE_ONE);
        disk.damage(dataset.file(LARGE_ONE));
        CountDownLatch gate = new CountDownLatch(1);
        disk.hangUntil(gate);
        CountDownLatch whole = dataset.hangFrom(InFlightLimit.PIECE_BYTES);
        FutureTask<SampleBuffer> staged =
                new FutureTask<>(() -> slow.fetch(dataset.file(LARGE_ONE), 0, new FakeStager(0)));
        Thread.ofPlatform().daemon().start(staged);
        Await.until("the disk is asked", () -> slow.isUnderWay(dataset.file(LARGE_ONE)));
        try (SampleReader patient =
                new SampleReader(dataset.tree, dataset, slow, inUse, counters, errors, TIMEOUT_MS)) {
            CompletableFuture<byte[]> end = ReadBytes.ask(patient, dataset.file(LARGE_ONE), LARGE - 1000, 1000);
            assertThat(end).isNotDone();
            gate.countDown();
            dataset.awaitReads(3);
            assertThat(staged).as("the fetch hangs, and so does the reader's").isNotDone();
            whole.countDown();
            assertThat(end.get(60, TimeUnit.SECONDS)).hasSize(1000);
        } finally {
            gate.countDown();
            whole.countDown();
        }
        staged.get(60, TimeUnit.SECONDS).release();
        assertThat(dataset.readsOf(LARGE_ONE)).isEqualTo(1 + Math.ceilDiv(LARGE, InFlightLimit.PIECE_BYTES));
    }

    @Test
    void missingPartOfAStagedSample_isReadInItsTurn_afterSamplesThatWereClaimedBefore() throws Exception {
        FetchRouter patient = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                counters,
                () -> 0); // no piece is ever overdue
        CountDownLatch gate = dataset.hangFrom(2 * InFlightLimit.PIECE_BYTES);
        FutureTask<SampleBuffer> before =
                new FutureTask<>(() -> patient.fetch(dataset.file(LARGE_ONE), 0, new FakeStager(0)));
        Thread.ofPlatform().daemon().start(before);
        dataset.awaitReads(3);
        SampleBuffer part = SampleBuffer.allocate(1000);
        FutureTask<Void> mended = new FutureTask<>(() -> {
            patient.readPart(dataset.file(MIDDLE_ONE), 5000, 1, part.bytes());
            return null;
        });
        Thread.ofPlatform().daemon().start(mended);
        Await.until("the part waits for its turn", () -> patient.waitingForSource() == 1);
        assertThat(mended).isNotDone();
        gate.countDown();
        mended.get(60, TimeUnit.SECONDS);
        before.get(60, TimeUnit.SECONDS).release();
        SampleBuffer right = dataset.sample(MIDDLE_ONE);
        assertThat(part.bytes().mismatch(right.bytes().asSlice(5000, 1000))).isEqualTo(-1);
        right.release();
        part.release();
        List<Integer> reads = dataset.reads();
        assertThat(reads.indexOf(MIDDLE_ONE))
                .as("after all, but for the short last piece, beside which it may go")
                .isGreaterThanOrEqualTo(reads.size() - 2);
    }

    // Promise T6
    @Test
    void diskThatHangs_isNotAskedAgainForALargeSample_andWhoWaitedForItReadsTheSource() throws Exception {
        FetchRouter impatient = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, PeerFetch.NONE),
                new FetchLimits(TimeUnit.MILLISECONDS.toNanos(50), SourceTurns.MOST_BEGUN_BYTES),
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                counters,
                System::nanoTime);
        int file = dataset.file(LARGE_ONE);
        put(disk, LARGE_ONE);
        CountDownLatch gate = new CountDownLatch(1);
        disk.hangUntil(gate);
        try (SampleReader patient =
                new SampleReader(dataset.tree, dataset, impatient, inUse, counters, errors, TIMEOUT_MS)) {
            FutureTask<byte[]> first = new FutureTask<>(() -> ReadBytes.of(patient, file, 5000, 1000));
            Thread.ofPlatform().daemon().start(first);
            Await.until("the disk is asked", disk::hangs);
            TimeUnit.MILLISECONDS.sleep(60); // it is lost then
            for (int piece = 1; piece < 4; piece++) {
                assertThat(ReadBytes.of(patient, file, piece * 100_000L, 1000)).hasSize(1000);
            }
            assertThat(first.get(60, TimeUnit.SECONDS)).hasSize(1000);
        } finally {
            gate.countDown();
        }
    }

    // Promise W1
    @Test
    void homeThatDoesNotHoldALargeSample_isNotAskedForTheWhole_byAReaderOfAPart() throws Exception {
        AtomicBoolean isAsked = new AtomicBoolean();
        PeerFetch home = group(new OnePeer(false, () -> isAsked.set(true)));
        requireOnlyThePartFromSource(home);
        assertThat(isAsked).isFalse();
    }

    // Promise W1
    @Test
    void peerThatIsLateWithALargeSample_isPassedOver_byAReaderOfAPart_whoReadsThatFromTheSource() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try {
            requireOnlyThePartFromSource(group(new OnePeer(
                    true, () -> Await.until("the reader has its part", () -> gate.getCount() == 0))));
        } finally {
            gate.countDown();
        }
        Await.until("it is counted", () -> counters.peersPassedOver.sum() == 1);
    }

    /** A reader of a part of the large sample has it, though the source is read for no more. */
    private void requireOnlyThePartFromSource(PeerFetch group) throws Exception {
        FetchRouter inGroup = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, admission, inUse, group),
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                counters,
                System::nanoTime);
        try (SampleReader ofGroup =
                new SampleReader(dataset.tree, dataset, inGroup, inUse, counters, errors, TIMEOUT_MS)) {
            assertThat(ReadBytes.of(ofGroup, dataset.file(LARGE_ONE), 5000, 1000))
                    .hasSize(1000);
        }
        assertThat(counters.fromSource.bytes()).isEqualTo(1000);
    }

    /** A group of this peer, looked up by a machine so busy that a peer counts as late beside a source that takes 1 ms. */
    private static PeerFetch group(PeerFetch.Holder peer) {
        return new PeerFetch() {
            @Override
            public boolean mayHave(int file) {
                return true;
            }

            @Override
            public List<Holder> holders(int file) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
                return List.of(peer);
            }

            @Override
            public long mostNs(long bytes) {
                return Long.MAX_VALUE / 2;
            }
        };
    }

    /** A peer that gives nothing, and {@code holds} the sample or would have to fetch it first. */
    private record OnePeer(boolean holds, Runnable asked) implements PeerFetch.Holder {
        @Override
        public Place.Peer place() {
            return new Place.Peer(1);
        }

        @Override
        public PeerFetch.@Nullable Delivery fetch(long withinNs) {
            asked.run();
            return null;
        }

        @Override
        public CompletableFuture<PeerFetch.@Nullable Delivery> ask(long withinNs) {
            asked.run();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public long windowBytes() {
            return LARGE;
        }
    }

    @Test
    void sampleThatTheSourceTakesLongFor_isReadByItsParts() throws Exception {
        FetchRouter slow = router(new ObservedRates((_, bytes) -> bytes * 1e-5, 60, System::nanoTime)); // 100 KB/s
        try (SampleReader patient =
                new SampleReader(dataset.tree, dataset, slow, inUse, counters, errors, TIMEOUT_MS)) {
            assertThat(ReadBytes.of(patient, dataset.file(MIDDLE_ONE), MIDDLE - 1000, 1000))
                    .hasSize(1000);
        }
        assertThat(counters.fromSource.bytes()).isEqualTo(1000);
        assertThat(counters.fromSource.count()).as("not its first part").isZero();
    }

    @Test
    void sampleThatReadersHaveNoRoomFor_isReadByItsParts_untilThereIsRoom() throws Exception {
        try (Crowd crowd = new Crowd(5, 1)) {
            for (int sample = 0; sample < 4; sample++) {
                crowd.requireRead(sample, 0);
            }
            crowd.requireRead(4, 5000);
            crowd.requireRead(4, 6000);
            assertThat(counters.fromSource.bytes()).isEqualTo(4 * MIDDLE + 2000);
            for (int sample = 0; sample < 4; sample++) {
                crowd.requireRead(sample, 5000);
            }
            assertThat(counters.fromSource.bytes()).as("these are still held").isEqualTo(4 * MIDDLE + 2000);
            crowd.held.closed(new int[] {crowd.files.file(0)}, 1);
            crowd.requireRead(4, 7000);
            crowd.requireRead(4, 8000);
            assertThat(counters.fromSource.bytes()).isEqualTo(5 * MIDDLE + 2000);
        }
    }

    @Test
    void sampleThatReadersHaveNoRoomFor_isFetchedWhole_whereMemoryKeepsIt() throws Exception {
        try (Crowd crowd = new Crowd(5, 5 * MIDDLE)) {
            for (int sample = 0; sample < 5; sample++) {
                crowd.requireRead(sample, 5000);
            }
            crowd.files.fail(true);
            for (int sample = 0; sample < 5; sample++) {
                crowd.requireRead(sample, 6000);
            }
        }
    }

    @Test
    void smallSample_isFetchedOnceForItsRequests_howeverManyReadersHold() throws Exception {
        SamplesInUse few = new SamplesInUse(4 * SMALL, () -> 0);
        MemoryTier none = new MemoryTier(1);
        Admission nowhere = new Admission(dataset.tree, none, List.of(), LARGE);
        FetchRouter fetches = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset, nowhere, few, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                counters,
                System::nanoTime);
        try (SampleReader all = new SampleReader(dataset.tree, dataset, fetches, few, counters, errors, TIMEOUT_MS)) {
            for (int sample = 1; sample <= 9; sample++) {
                assertThat(ReadBytes.of(all, dataset.file(sample), 0, 40)).hasSize(40);
                int file = dataset.file(sample);
                Await.until("it has come", () -> !fetches.isUnderWay(file));
                assertThat(ReadBytes.of(all, file, 40, 60)).hasSize(60);
            }
            assertThat(dataset.reads()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
        } finally {
            nowhere.close();
            none.close();
            few.close();
        }
    }

    /** Samples of 4 MiB, of which readers may hold four, and a memory tier. */
    private final class Crowd implements AutoCloseable {
        final FakeDataset files;
        final SamplesInUse held = new SamplesInUse(4 * MIDDLE, () -> 0);
        private final MemoryTier tier;
        private final Admission kept;
        private final FetchRouter fetches;
        private final SampleReader readers;

        Crowd(int samples, long memoryBytes) throws Exception {
            files = new FakeDataset(samples, _ -> MIDDLE);
            tier = new MemoryTier(memoryBytes);
            kept = new Admission(files.tree, tier, List.of(), LARGE);
            fetches = new FetchRouter(
                    new FetchPlaces(files.tree, files, kept, held, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                    counters,
                    System::nanoTime);
            readers = new SampleReader(files.tree, files, fetches, held, counters, errors, TIMEOUT_MS);
        }

        /** Reads 1000 bytes from this offset on, and waits for the end of the fetch that this may have begun. */
        void requireRead(int sample, long offset) throws Exception {
            assertThat(ReadBytes.of(readers, files.file(sample), offset, 1000)).hasSize(1000);
            Await.until("no fetch goes on", () -> !fetches.isUnderWay(files.file(sample)));
        }

        @Override
        public void close() {
            readers.close();
            kept.close();
            tier.close();
            held.close();
        }
    }

    @Test
    void sampleUnderWay_isHeldForItsReader_whenItHasArrived() throws Exception {
        CountDownLatch gate = dataset.hang();
        FutureTask<SampleBuffer> staged = new FutureTask<>(() -> router.fetch(dataset.file(1), 0, new FakeStager(0)));
        Thread.ofPlatform().daemon().start(staged);
        dataset.awaitReads(1);
        CompletableFuture<byte[]> first = ReadBytes.ask(reader, dataset.file(1), 0, 40);
        assertThat(first).isNotDone();
        gate.countDown();
        assertThat(first.get(60, TimeUnit.SECONDS)).hasSize(40);
        SampleBuffer buffer = staged.get(60, TimeUnit.SECONDS);
        inUse.letGo(dataset.file(1), buffer);
        buffer.release();
        requireRead(1, 40, 60);
        assertThat(dataset.reads()).containsExactly(1);
    }

    @Test
    void readerWhoseSampleNobodyFetches_hasItsBytesBeforeTheRestIsThere() throws Exception {
        FakeDataset pieces = new FakeDataset(1, _ -> 3 * InFlightLimit.PIECE_BYTES);
        FetchRouter all = new FetchRouter(
                new FetchPlaces(pieces.tree, pieces, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                counters,
                System::nanoTime);
        CountDownLatch gate = pieces.hangFrom(InFlightLimit.PIECE_BYTES);
        try (SampleReader first = new SampleReader(pieces.tree, pieces, all, inUse, counters, errors, TIMEOUT_MS)) {
            SampleBuffer right = pieces.sample(0);
            byte[] read = ReadBytes.of(first, pieces.file(0), 10, 1000);
            assertThat(MemorySegment.ofArray(read).mismatch(right.bytes().asSlice(10, 1000)))
                    .isEqualTo(-1);
            right.release();
            gate.countDown();
            Await.until("the rest is there", () -> !all.isUnderWay(pieces.file(0)));
            assertThat(pieces.reads()).hasSize(3);
        }
    }

    // Promise W1
    @Test
    void readersOfASourceThatHangs_areToldInTime_andNoThreadWaitsWithThoseWhoJoined() throws Exception {
        CountDownLatch gate = dataset.hang();
        FutureTask<SampleBuffer> fetch = new FutureTask<>(() -> router.fetch(dataset.file(1), false));
        try (SampleReader impatient = new SampleReader(dataset.tree, dataset, router, inUse, counters, errors, 100)) {
            assertThatThrownBy(() -> ReadBytes.of(impatient, dataset.file(1), 0, 10))
                    .isInstanceOf(SourceTimeoutException.class)
                    .hasMessageContaining("100 ms");
            // that reader's thread may have been too late to begin a fetch
            Thread.ofPlatform().daemon().start(fetch);
            dataset.awaitReads(1);
            // on this thread, which goes on while the source hangs
            CompletableFuture<byte[]> joined = ReadBytes.ask(impatient, dataset.file(1), 20, 10);
            assertThatThrownBy(() -> joined.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(SourceTimeoutException.class);
        } finally {
            gate.countDown();
        }
        fetch.get(60, TimeUnit.SECONDS).release();
        Await.until("the fetch is over", () -> !router.isUnderWay(dataset.file(1)));
        requireRead(1, 0, 40);
    }

    @Test
    void end_letsGoOfAllReaders() throws Exception {
        CountDownLatch gate = dataset.hang();
        FutureTask<byte[]> waiting = new FutureTask<>(() -> ReadBytes.of(reader, dataset.file(1), 0, 10));
        Thread.ofPlatform().daemon().start(waiting);
        dataset.awaitReads(1);
        reader.close();
        assertThatThrownBy(() -> waiting.get(60, TimeUnit.SECONDS)).hasMessageContaining("the mount is being ended");
        assertThatThrownBy(() -> ReadBytes.of(reader, dataset.file(2), 0, 10))
                .hasMessageContaining("the mount is being ended");
        gate.countDown();
    }

    // Promise W1
    @Test
    void moreReadersThanThreads_waitForTheirSamplesWithinTheTimeout() throws Exception {
        CountDownLatch gate = dataset.hang();
        List<FutureTask<Void>> readers = new ArrayList<>();
        for (int sample = 1; sample < MIDDLE_ONE; sample++) {
            int mine = sample;
            FutureTask<Void> task = new FutureTask<>(() -> {
                requireRead(mine, 0, (int) SMALL);
                return null;
            });
            readers.add(task);
            Thread.ofPlatform().daemon().start(task);
        }
        dataset.awaitReads(256);
        gate.countDown();
        for (FutureTask<Void> task : readers) {
            task.get(60, TimeUnit.SECONDS);
        }
        assertThat(dataset.reads()).hasSize(MIDDLE_ONE - 1);
    }

    @Test
    void sampleThatIsReadInPieces_countsOnce_withTheBytesThatWereHandedOut() throws Exception {
        put(memory, 1);
        requireRead(1, 0, 40);
        requireRead(1, 40, 40);
        assertThat(counters.fromMemory.count()).isEqualTo(1);
        assertThat(counters.fromMemory.bytes()).isEqualTo(80);
    }

    @Test
    void loaderIsFree_beforeTheReadersOfItsSampleAreServed() throws Exception {
        CountDownLatch gate = dataset.hang();
        AtomicBoolean free = new AtomicBoolean();
        FutureTask<SampleBuffer> staged =
                new FutureTask<>(() -> router.fetch(dataset.file(1), 0, new FakeStager(0, () -> free.set(true))));
        Thread.ofPlatform().daemon().start(staged);
        dataset.awaitReads(1);
        CompletableFuture<Boolean> wasFree = new CompletableFuture<>();
        reader.read(dataset.file(1), 0, 40, TIMEOUT_MS, asker(_ -> free.get(), wasFree));
        assertThat(free).isFalse();
        gate.countDown();
        assertThat(wasFree.get(60, TimeUnit.SECONDS)).isTrue();
        SampleBuffer buffer = staged.get(60, TimeUnit.SECONDS);
        inUse.letGo(dataset.file(1), buffer);
        buffer.release();
    }

    @Test
    void reader_isToldAfterItsSampleWasCounted() throws Exception {
        CompletableFuture<Long> counted = new CompletableFuture<>();
        reader.read(dataset.file(1), 0, 40, TIMEOUT_MS, asker(_ -> counters.fromSource.count(), counted));
        assertThat(counted.get(60, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void readerThatCannotTakeItsBytes_isToldSo_andTheSampleIsFreed() throws Exception {
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        reader.read(dataset.file(1), 0, 40, TIMEOUT_MS, new SampleReader.Asker() {
            @Override
            public void bytes(MemorySegment bytes) {
                throw new OutOfMemoryError("for the test");
            }

            @Override
            public void failed(Throwable reason) {
                told.complete(reason);
            }
        });
        assertThat(told.get(60, TimeUnit.SECONDS)).isInstanceOf(OutOfMemoryError.class);
        requireRead(1, 0, 40);
    }

    /** Completes {@code result} with what {@code look} returns while the bytes are handed over. */
    private static <T> SampleReader.Asker asker(Function<MemorySegment, T> look, CompletableFuture<T> result) {
        return new SampleReader.Asker() {
            @Override
            public void bytes(MemorySegment bytes) {
                result.complete(look.apply(bytes));
            }

            @Override
            public void failed(Throwable reason) {
                result.completeExceptionally(reason);
            }
        };
    }
}
