package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a place that is slow, or seems so, is asked for, and when it is tried again. */
@Timeout(120)
final class SlowPlacesTest extends FetchRouterFixture {
    SlowPlacesTest() throws Exception {}

    @Test
    void diskThatIsSlowerThanPeers_isPassedOver() throws Exception {
        putOnDisk(1);
        peers.answersBySample.put(1, true);
        diskSeconds = 0.5;
        requireFetched(1);
        assertThat(peers.asked).containsExactly(1);
        assertThat(disk.operations()).isEmpty();
    }

    @Test
    void slowerPlaceThanTheSource_isAskedIfNobodyWaitsForTheSampleMeanwhile() throws Exception {
        putOnDisk(1);
        putOnDisk(2);
        diskSeconds = 1.1;
        assertThat(router.cheapest(dataset.file(1), SIZE)).isEqualTo(Place.SOURCE);
        router.fetch(dataset.file(1), true).release();
        assertThat(dataset.reads()).containsExactly(1);
        assertThat(counters.ssdPassedOver.sum()).isEqualTo(1);
        requireStaged(2, 1.2);
        assertThat(dataset.reads()).containsExactly(1);
        assertThat(counters.ssdPassedOver.sum()).isEqualTo(1);
        assertThat(counters.fromSsd.count()).isEqualTo(1);
    }

    /** Either seems to take a quarter of an hour, so that a thread which waits for the processor is no slow disk. */
    @Test
    void slowDisk_isTriedNowAndThen() throws Exception {
        putOnDisk(1);
        sourceSeconds = 1000;
        diskSeconds = 1100;
        for (int i = 0; i < 3; i++) {
            requireFetched(1);
        }
        assertThat(dataset.reads()).isEmpty();
        diskSeconds = 1e-4;
        assertThat(router.cheapest(dataset.file(1), SIZE)).isEqualTo(new Place.Local(DISK));
    }

    @Test
    void diskWhoseFirstReadsAreSlow_isReadAllTheSame_untilItIsKnown() throws Exception {
        putOnDisk(1);
        putOnDisk(2);
        sourceSeconds = 0.005;
        for (int i = 0; i < 63; i++) {
            rates.record(new Place.Local(DISK), SIZE, 50_000_000);
        }
        router.fetch(dataset.file(1), true).release();
        assertThat(dataset.reads()).isEmpty();
        for (int i = 0; i < 64; i++) {
            rates.record(new Place.Local(DISK), SIZE, 50_000_000);
        }
        router.fetch(dataset.file(2), true).release();
        assertThat(dataset.reads()).containsExactly(2);
    }

    @Test
    void diskThatIsLateFromItsFirstRead_isPassedOver() throws Exception {
        putOnDisk(1);
        sourceSeconds = 0.005;
        rates.record(new Place.Local(DISK), SIZE, 2_000_000_000);
        router.fetch(dataset.file(1), true).release();
        assertThat(dataset.reads()).containsExactly(1);
    }

    private void firstAnswersOfThePeerAreSlow() {
        for (int i = 0; i < 5; i++) {
            rates.record(PEER, SIZE, 60_000_000);
        }
    }

    @Test
    void newPeer_isAskedAllTheSame_whereTheSourceIsSlow() throws Exception {
        sourceSeconds = 0.02;
        firstAnswersOfThePeerAreSlow();
        peers.answersBySample.put(1, true);
        requireStaged(1, 0);
        assertThat(peers.asked).containsExactly(1);
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void quickPlace_isPreferredToASourceThatIsQuickerStill() throws Exception {
        putOnDisk(1);
        sourceSeconds = 1e-5;
        diskSeconds = 4e-4;
        requireFetched(1);
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void tierIsFilledByPeers_howeverSlowTheyAre() throws Exception {
        planAll(0);
        peers.answersBySample.put(1, true);
        peerSeconds = 30;
        assertThat(router.fill(dataset.file(1), 0)).isEqualTo(FetchRouter.Filling.BROUGHT);
        assertThat(dataset.reads()).isEmpty();
    }

    @Test
    void peerThatIsLaterThanItEverWas_isGivenUp_andTheSourceGivesTheSample() throws Exception {
        peers.answersBySample.put(1, true);
        silent = true;
        sourceSeconds = 0.05;
        requireFetched(1);
        assertThat(peers.asked).containsExactly(1);
        assertThat(dataset.reads()).containsExactly(1);
        assertThat(counters.peersPassedOver.sum()).isEqualTo(1);
    }

    @Test
    void slowPeers_areTriedByOneFetchNowAndThen() throws Exception {
        peers.answersBySample.put(1, true);
        peerSeemsSlow();
        for (int i = 0; i < 3; i++) {
            assertThat(router.cheapest(dataset.file(1), SIZE)).isEqualTo(Place.SOURCE);
            requireFetched(1);
        }
        assertThat(peers.asked).containsExactly(1, 1, 1);
        assertThat(router.cheapest(dataset.file(1), SIZE)).isEqualTo(PEER);
    }

    private void peerSeemsSlow() {
        for (int i = 0; i < 5; i++) {
            rates.record(PEER, SIZE, 30_000_000_000L);
        }
    }

    @Test
    void peerThatSeemsSlow_isTriedBesidesWhatTheSourceGivesToReaders_untilItWasQuick() throws Exception {
        peerSeemsSlow();
        for (int sample = 1; sample <= 3; sample++) {
            peers.answersBySample.put(sample, true);
            assertThat(router.cheapest(dataset.file(sample), SIZE)).isEqualTo(Place.SOURCE);
            router.fetch(dataset.file(sample), true).release();
            assertThat(peers.asked).hasSize(sample - 1);
            assertThat(besides).hasSize(1);
            besides.removeFirst().run();
            assertThat(peers.asked).hasSize(sample);
        }
        assertThat(dataset.reads()).containsExactly(1, 2, 3);
        assertThat(counters.peersPassedOver.sum()).isEqualTo(3);
        peers.answersBySample.put(4, true);
        router.fetch(dataset.file(4), true).release();
        assertThat(peers.asked).as("the reader's own fetch").endsWith(4);
        assertThat(dataset.reads()).hasSize(3);
    }

    @Test
    void placeOnTrial_isNotTriedBesidesByAnotherReader() throws Exception {
        peerSeemsSlow();
        peers.answersBySample.put(1, false);
        peers.answersBySample.put(2, true);
        peers.answersBySample.put(3, true);
        router.fetch(dataset.file(1), true).release();
        router.fetch(dataset.file(2), true).release();
        assertThat(besides).hasSize(1);
        besides.removeFirst().run();
        router.fetch(dataset.file(3), true).release();
        assertThat(besides).as("it failed just now").isEmpty();
    }

    @Test
    void placeThatSeemsSlow_isNotTriedForNobody_withALargeSample_norOneThatItsHomeHasToFetch() throws Exception {
        peerSeemsSlow();
        for (int sample : new int[] {LARGE, 1}) {
            peers.answersBySample.put(sample, true);
        }
        peers.homes.add(1);
        router.fetch(dataset.file(LARGE), true).release();
        router.fetch(dataset.file(1), true).release();
        assertThat(besides).isEmpty();
        assertThat(peers.asked).isEmpty();
        assertThat(dataset.reads()).contains(LARGE, 1);
    }

    @Test
    void placesThatSeemSlow_areTriedBesidesReadersOneAtATime() throws Exception {
        peerSeemsSlow();
        peers.answersBySample.put(1, true);
        putOnDisk(2);
        putOnDisk(3);
        diskSeconds = 1000; // a source whose thread waits for the processor is no slower than that
        router.fetch(dataset.file(1), true).release();
        router.fetch(dataset.file(2), true).release();
        assertThat(besides).as("of the peer").hasSize(1);
        besides.removeFirst().run();
        assertThat(peers.asked).containsExactly(1);
        router.fetch(dataset.file(3), true).release();
        assertThat(besides).as("of the disk").hasSize(1);
        besides.removeFirst().run();
        assertThat(counters.fromSsd.count()).isEqualTo(1);
        assertThat(dataset.reads()).containsExactly(1, 2, 3);
    }

    @Test
    void trialForWhichThereIsNoThread_costsTheReaderNothing() throws Exception {
        peerSeemsSlow();
        peers.answersBySample.put(1, true);
        peers.answersBySample.put(2, true);
        besidesFails = true;
        router.fetch(dataset.file(1), true).release();
        assertThat(dataset.reads()).containsExactly(1);
        requireFetched(2);
        assertThat(peers.asked).as("it is put off like one that failed").isEmpty();
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        requireFetched(2);
        assertThat(peers.asked).containsExactly(2);
    }

    @Test
    void slowPeersThatHaveNothing_areTriedOnceAndTheSourceGivesIt() throws Exception {
        peers.answersBySample.put(1, false);
        peerSeconds = 30;
        requireFetched(1);
        assertThat(peers.asked).containsExactly(1);
        assertThat(dataset.reads()).containsExactly(1);
        assertThat(counters.peersPassedOver.sum()).as("it answered").isZero();
    }

    @Test
    void sourceThatFails_isReplacedByAPlaceThatSeemedTooSlow() throws Exception {
        peers.answersBySample.put(1, true);
        for (int i = 0; i < 5; i++) {
            rates.record(PEER, SIZE, 30_000_000_000L);
        }
        dataset.fail(true);
        SampleBuffer sample = router.fetch(dataset.file(1), true);
        assertThat(dataset.isRight(1, sample)).isTrue();
        sample.release();
    }

    /** A loader asks a peer for a sample, which does not answer yet, and a reader comes for it. */
    private final class LatePeer implements AutoCloseable {
        private final int number;
        private final int asked = peers.asked.size();
        private final CountDownLatch answer = new CountDownLatch(1);
        private final CompletableFuture<SampleBuffer> staged = new CompletableFuture<>();
        private final CompletableFuture<SampleBuffer> reader = new CompletableFuture<>();

        LatePeer() {
            this(1);
        }

        LatePeer(int number) {
            this.number = number;
            peers.answersBySample.put(number, true);
            peersAnswer = answer;
            Thread.ofPlatform().start(this::stage);
            Await.until("the peer is asked", () -> peers.asked.size() > asked);
            assertThat(router.readers().join(dataset.file(number), SIZE, reader))
                    .isTrue();
        }

        private void stage() {
            try {
                staged.complete(router.fetch(dataset.file(number), 0, new FakeStager(60)));
            } catch (SourceException | RuntimeException e) {
                staged.completeExceptionally(e);
            }
        }

        void waits() {
            router.readers().waits(dataset.file(number), reader, Runnable::run);
        }

        /** The same; returns when the source was asked, which the reader does or a thread besides, whichever finds the peer late. */
        void waitsUntilLate() {
            waits();
            if (!reader.isDone()) { // the peer was not late yet
                Await.until("it is late", () -> !besides.isEmpty());
                besides.removeFirst().run();
            }
        }

        void requireRead() throws Exception {
            SampleBuffer sample = reader.get(60, TimeUnit.SECONDS);
            assertThat(dataset.isRight(number, sample)).isTrue();
            sample.release();
        }

        @Override
        public void close() {
            answer.countDown();
            SampleBuffer sample = staged.orTimeout(60, TimeUnit.SECONDS).join();
            assertThat(dataset.isRight(number, sample)).isTrue();
            inUse.letGo(dataset.file(number), sample);
            sample.release();
        }
    }

    @Test
    void readerWhosePeerIsLate_getsTheSampleFromTheSource_andSoDoOthersWhoWait() throws Exception {
        sourceSeconds = 1e-9;
        try (LatePeer late = new LatePeer()) {
            CompletableFuture<SampleBuffer> second = new CompletableFuture<>();
            assertThat(router.readers().join(dataset.file(1), SIZE, second)).isTrue();
            late.waitsUntilLate();
            late.requireRead();
            SampleBuffer same = second.get(60, TimeUnit.SECONDS);
            same.release();
            router.readers().waits(dataset.file(1), new CompletableFuture<>(), Runnable::run);
            assertThat(dataset.reads()).as("once, however many wait").containsExactly(1);
            assertThat(counters.peersPassedOver.sum()).isEqualTo(1);
        }
        assertThat(dataset.reads()).containsExactly(1);
        requireFetched(1);
        assertThat(peers.asked).containsExactly(1);
    }

    @Test
    void readersOwnFetchFromALatePeer_isAnsweredByTheSource() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        peersAnswer = answer;
        peers.answersBySample.put(1, true);
        sourceSeconds = 0.003;
        peerSeconds = 1e-4;
        CompletableFuture<SampleBuffer> reader = new CompletableFuture<>();
        CompletableFuture<Void> fetch = CompletableFuture.runAsync(
                () -> fetchFor(reader), task -> Thread.ofPlatform().start(task));
        Await.until("the peer is late", () -> reader.isDone() || !besides.isEmpty());
        if (!besides.isEmpty()) { // else it was late already when the reader looked
            besides.removeFirst().run();
        }
        SampleBuffer sample = reader.get(60, TimeUnit.SECONDS);
        assertThat(dataset.isRight(1, sample)).isTrue();
        sample.release();
        assertThat(dataset.reads()).containsExactly(1);
        answer.countDown();
        fetch.get(60, TimeUnit.SECONDS);
        assertThat(dataset.reads()).containsExactly(1);
    }

    @Test
    void peerThatFailsAfterTheSourceWasAsked_costsNoFurtherReadOfTheSource() throws Exception {
        sourceSeconds = 1e-9;
        try (LatePeer late = new LatePeer()) {
            Thread.sleep(20); // longer than the source takes four times
            late.waits();
            late.requireRead();
            peers.answersBySample.put(1, false);
        }
        assertThat(dataset.reads()).containsExactly(1);
    }

    private void fetchFor(CompletableFuture<SampleBuffer> reader) {
        try {
            router.readers().fetchFor(dataset.file(1), SIZE, reader);
        } catch (SourceException e) {
            reader.completeExceptionally(e);
        }
    }

    @Test
    void sourceThatIsNotQuick_isNotAskedTwice() throws Exception {
        sourceSeconds = 0.006;
        try (LatePeer late = new LatePeer()) {
            Thread.sleep(50); // longer than the source takes four times
            late.waits();
            assertThat(besides).isEmpty();
            late.answer.countDown();
            late.requireRead();
        }
        assertThat(dataset.reads()).isEmpty();
        assertThat(counters.peersPassedOver.sum()).isZero();
    }

    @Test
    void quickSourceWhoseFirstReadsWereSlow_isAskedTwiceNowAndThen() throws Exception {
        sourceSeconds = 0.006;
        for (int number = 20; number < 30; number++) {
            requireFetched(number); // in less, most of them at least, for they are in memory
        }
        for (int number = 0; number < 5; number++) {
            for (int i = 0; i < 40; i++) {
                rates.record(Place.SOURCE, SIZE, 10_000_000);
            }
            try (LatePeer late = new LatePeer(number)) {
                Thread.sleep(50); // longer than that four times
                if (number < 4) {
                    late.waitsUntilLate();
                } else {
                    late.waits();
                    assertThat(late.reader).as("four times in a row").isNotDone();
                    late.answer.countDown();
                }
                late.requireRead();
            }
        }
        assertThat(dataset.reads().subList(10, dataset.reads().size())).containsExactly(0, 1, 2, 3);
    }

    @Test
    void sourceThatFails_leavesTheReaderToItsPeer() throws Exception {
        sourceSeconds = 1e-9;
        dataset.fail(true);
        try (LatePeer late = new LatePeer()) {
            Thread.sleep(20); // longer than the source takes four times
            late.waits();
            assertThat(late.reader).isNotDone();
            late.answer.countDown();
            late.requireRead();
        }
    }
}
