package io.clairfs.tools.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.ResidencyListener;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.testing.CountingSource;
import io.clairfs.cache.tier.AsListedTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.TierFailures;
import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.TransferServer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node serves over one transfer thread, with a disk and a source whose delays the test controls. */
@Timeout(600)
final class SampleServerTest {
    private static final int FILES = 120;
    private static final int SIZE = 1_000;
    private static final int ON_SSD = 10;
    private static final long SOON_MS = 120_000;

    /** No time runs out because the machine stands still. */
    private static final TransferLimits PATIENT =
            TransferLimits.DEFAULT.withTimes(60_000, 60_000, 60_000, 60_000, 600_000, 600_000);

    private final CountDownLatch diskGoesOn = new CountDownLatch(1);
    private final CountDownLatch sourceGoesOn = new CountDownLatch(1);
    private final CountDownLatch sourceIsAsked = new CountDownLatch(1);
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private DatasetTree tree;

    @SuppressWarnings("NullAway.Init")
    private Source source;

    @SuppressWarnings("NullAway.Init")
    private FileNumbers numbers;

    private final MemoryTier memory = new MemoryTier(FILES * SIZE);

    @BeforeEach
    void listDataset() throws Exception {
        Path files = Files.createDirectory(directory.resolve("source"));
        for (int i = 0; i < FILES; i++) {
            byte[] bytes = new byte[SIZE];
            Arrays.fill(bytes, (byte) i);
            Files.write(files.resolve("%03d".formatted(i)), bytes);
        }
        source = new Asked(new CountingSource(new DirectorySource(files), sourceGoesOn));
        tree = new DatasetTree(source, 1, line -> {
            throw new AssertionError(line);
        });
        tree.complete().join();
        numbers = FileNumbers.of(tree);
        parts.push(tree);
    }

    @AfterEach
    void end() throws Exception {
        diskGoesOn.countDown();
        sourceGoesOn.countDown();
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
        memory.close();
    }

    private <T extends AutoCloseable> T closing(T part) {
        parts.push(part);
        return part;
    }

    private static void await(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A source that tells when somebody begins to read. */
    private final class Asked extends ForwardingSource {
        Asked(Source inner) {
            super(inner);
        }

        @Override
        public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
            sourceIsAsked.countDown();
            super.read(file, offset, into);
        }
    }

    /** A disk that has every file but the last. Its reads wait until the test releases them. */
    private class SlowDisk implements Tier {
        @Override
        public String name() {
            return "slow";
        }

        @Override
        public boolean contains(int file) {
            return file != fileOf(FILES - 1);
        }

        @Override
        public SampleBuffer get(int file) {
            await(diskGoesOn);
            return sample(numbers.numberOf(file));
        }

        @Override
        public boolean keep(int file, SampleBuffer sample) {
            return false;
        }

        @Override
        public void evict(int file) {}

        @Override
        public long capacityBytes() {
            return 0;
        }

        @Override
        public long usedBytes() {
            return 0;
        }

        @Override
        public int samples() {
            return FILES;
        }

        @Override
        public boolean isWritable() {
            return false;
        }

        @Override
        public TierFailures failures() {
            return TierFailures.NONE;
        }

        @Override
        public void close() {}
    }

    private int fileOf(int number) {
        return numbers.fileOf(number);
    }

    /** Files are numbered in the order of their names. */
    private static SampleBuffer sample(int number) {
        SampleBuffer sample = SampleBuffer.allocate(SIZE);
        sample.bytes().fill((byte) number);
        return sample;
    }

    private void keep(Tier tier, int number) {
        SampleBuffer sample = sample(number);
        assertThat(tier.keep(fileOf(number), sample)).isTrue();
        sample.release();
    }

    private @Nullable TransferServer server;
    private @Nullable TransferClient client;

    /** The residents announced to the other nodes: "tier number". */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    private final class Told implements ResidencyListener {
        @Override
        public void kept(int tier, int file) {
            told.add(tier + " " + numbers.numberOf(file));
        }

        @Override
        public void gone(int tier, int file) {
            told.remove(tier + " " + numbers.numberOf(file));
        }

        @Override
        public boolean isElsewhere(int file) {
            return true;
        }
    }

    private Peer serve(Tier disk, IntPredicate isHome) throws Exception {
        Admission admission = closing(new Admission(tree, memory, List.of(disk), FILES * SIZE));
        admission.residents().tell(new Told());
        admission.residents().tellAll();
        SamplesInUse inUse = closing(new SamplesInUse());
        ObservedRates rates =
                new ObservedRates((place, _) -> place instanceof Place.Local ? 1e-3 : 1, 60, System::nanoTime);
        FetchRouter router = new FetchRouter(
                new FetchPlaces(tree, source, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                rates,
                new Counters(),
                System::nanoTime);
        SampleServer samples = closing(new SampleServer(admission, router, isHome, new SparePool(0, () -> false)));
        Credentials credentials = new Credentials(new Fingerprint(1, 2), null);
        TransferThreads serving = closing(TransferThreads.start("serve", 1));
        TransferThreads fetching = closing(TransferThreads.start("fetch", 1));
        server = closing(TransferServer.start(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                credentials,
                samples.over(numbers),
                PATIENT,
                serving));
        client = closing(new TransferClient(credentials, PATIENT, fetching));
        return Objects.requireNonNull(client.peer(server.addresses().getFirst()));
    }

    private static CompletableFuture<Answer> ask(Peer peer, int number) {
        return peer.ask(number, SIZE, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SOON_MS));
    }

    private static void assertGot(CompletableFuture<Answer> answer, int number) {
        assertThat(answer.join()).isInstanceOf(Answer.Got.class);
        SampleBuffer got = ((Answer.Got) answer.join()).sample();
        for (long at = 0; at < got.size(); at++) {
            assertThat(got.bytes().get(ValueLayout.JAVA_BYTE, at)).isEqualTo((byte) number);
        }
        got.release();
    }

    @Test
    void serve_diskThatIsSlow_holdsUpNeitherTheThreadNorWhatIsInMemory() throws Exception {
        Peer peer = serve(new SlowDisk(), _ -> false);
        keep(memory, 7);
        List<CompletableFuture<Answer>> cold = new ArrayList<>();
        for (int number = 20; number < 60; number++) {
            cold.add(ask(peer, number));
        }
        assertGot(ask(peer, 7), 7);
        assertThat(cold).noneMatch(CompletableFuture::isDone);
        diskGoesOn.countDown();
        for (int i = 0; i < cold.size(); i++) {
            assertGot(cold.get(i), 20 + i);
        }
    }

    @Test
    void serve_sourceThatHangs_holdsUpNothingThatTheDiskHas() throws Exception {
        List<Integer> homes = new ArrayList<>();
        SlowDisk disk = new SlowDisk() {
            @Override
            public boolean contains(int file) {
                return numbers.numberOf(file) < 10;
            }
        };
        Peer peer = serve(disk, homes::contains);
        List<CompletableFuture<Answer>> fetches = new ArrayList<>();
        for (int number = 20; number < FILES; number++) {
            homes.add(fileOf(number));
        }
        for (int number = 20; number < FILES; number++) {
            fetches.add(ask(peer, number));
        }
        diskGoesOn.countDown();
        for (int number = 0; number < 10; number++) {
            assertGot(ask(peer, number), number);
        }
        assertThat(fetches).noneMatch(CompletableFuture::isDone);
        sourceGoesOn.countDown();
        for (int i = 0; i < fetches.size(); i++) {
            assertGot(fetches.get(i), 20 + i);
        }
    }

    /** As after a mount with the listing of an earlier one, while the source does not answer. */
    @Test
    void serve_sourceThatHangsWhereSamplesAreCompared_holdsUpNothingThatWasCompared() throws Exception {
        diskGoesOn.countDown();
        AsListedTier disk = new AsListedTier(new SlowDisk(), file -> {
            if (numbers.numberOf(file) >= 20) {
                await(sourceGoesOn);
            }
            return true;
        });
        disk.compareAll(tree.entryCount());
        Peer peer = serve(disk, _ -> false);
        for (int number = 0; number < 10; number++) {
            assertGot(ask(peer, number), number);
        }
        List<CompletableFuture<Answer>> toCompare = new ArrayList<>();
        for (int number = 20; number < 60; number++) {
            toCompare.add(ask(peer, number));
        }
        for (int number = 0; number < 10; number++) {
            assertGot(ask(peer, number), number);
        }
        assertThat(toCompare).noneMatch(CompletableFuture::isDone);
        sourceGoesOn.countDown();
        for (int i = 0; i < toCompare.size(); i++) {
            assertGot(toCompare.get(i), 20 + i);
        }
    }

    @Test
    void serve_sampleThatTheHomeFetchesFirst_saysHowLongThatTook_oneThatIsThereNothing() throws Exception {
        Peer peer = serve(new SlowDisk(), _ -> true);
        keep(memory, 7);
        assertThat(broughtNs(ask(peer, 7))).isZero();
        CompletableFuture<Answer> fetched = ask(peer, FILES - 1);
        await(sourceIsAsked);
        TimeUnit.MILLISECONDS.sleep(5); // of reading, which began before
        sourceGoesOn.countDown();
        assertThat(broughtNs(fetched)).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(1));
    }

    private static long broughtNs(CompletableFuture<Answer> answer) {
        Answer.Got got = (Answer.Got) answer.join();
        got.sample().release();
        return got.broughtNs();
    }

    @Test
    void serve_sampleThatIsNowhere_saysSo() throws Exception {
        Peer peer = serve(new SlowDisk(), _ -> false);
        assertThat(ask(peer, FILES - 1).join()).isEqualTo(new Answer.NotHere());
        assertThat(ask(peer, -1).join()).isEqualTo(new Answer.NotHere());
        assertThat(ask(peer, FILES).join()).isEqualTo(new Answer.NotHere());
    }

    @Test
    void serve_sampleThatHasGoneUnseen_isTakenBackFromTheOthers() throws Exception {
        keep(memory, 7);
        keep(memory, 8);
        SampleBuffer recent = sample(9);
        assertThat(memory.keepRecent(fileOf(9), recent)).isTrue();
        recent.release();
        Peer peer = serve(ssd(), _ -> false);
        assertThat(told).as("what readers left may go at any time").containsExactlyInAnyOrder("0 7", "0 8");
        memory.evict(fileOf(7));
        assertThat(ask(peer, 7).join()).isEqualTo(new Answer.NotHere());
        assertGot(ask(peer, 8), 8);
        assertGot(ask(peer, 9), 9);
        assertThat(told).containsExactly("0 8");
    }

    private SsdTier ssd() throws Exception {
        SsdTier ssd = closing(
                new SsdTier(directory.resolve("ssd"), "/data", 4L * FILES * SIZE, 0, System::nanoTime, line -> {}));
        ssd.recover(tree);
        return ssd;
    }

    @Test
    void serve_sampleOnTheSsd_goesFromItsFileOnceTheFileIsOpen() throws Exception {
        SsdTier ssd = ssd();
        Peer peer = serve(ssd, _ -> false);
        for (int number = 0; number < ON_SSD; number++) {
            keep(ssd, number);
        }
        assertGotAllOnSsd(peer);
        StoredSample atOnce = ssd.openStored(fileOf(3));
        if (atOnce == null) {
            String missing = "this kernel does not say what is in its page cache, so all samples were read";
            System.out.println("skipped: " + missing);
            Assumptions.abort(missing);
        }
        atOnce.release();
        long before;
        do { // the kernel may take pages back at any time, and a sample is read then; the class's timeout ends it
            before = counters().sentFromFile.sum();
            assertGotAllOnSsd(peer);
        } while (counters().sentFromFile.sum() < before + ON_SSD);
    }

    private static void assertGotAllOnSsd(Peer peer) {
        for (int number = 0; number < ON_SSD; number++) {
            assertGot(ask(peer, number), number);
        }
    }

    private io.clairfs.peer.transfer.server.ServeCounters counters() {
        TransferServer started = server;
        if (started == null) {
            throw new AssertionError("serve first");
        }
        return started.counters();
    }

    // Promise G2
    @Test
    void serve_sampleDamagedOnTheSsd_isNoticedByTheReceiverAndForgotten() throws Exception {
        SsdTier ssd = ssd();
        Peer peer = serve(ssd, _ -> false);
        keep(ssd, 4);
        assertGot(ask(peer, 4), 4);
        try (Stream<Path> files = Files.walk(directory.resolve("ssd"))) {
            Path data = files.filter(each -> each.toString().endsWith(".data"))
                    .findFirst()
                    .orElseThrow();
            byte[] bytes = Files.readAllBytes(data);
            bytes[10] ^= 1;
            Files.write(data, bytes, StandardOpenOption.WRITE);
        }
        Answer answer = ask(peer, 4).join();
        assertThat(answer).isNotInstanceOf(Answer.Got.class);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (ssd.contains(fileOf(4)) || ssd.failures().checksums() == 0) { // it is forgotten, then counted
            assertThat(System.nanoTime()).as("it was not forgotten and counted").isLessThan(end);
            Thread.sleep(5);
        }
        assertThat(ask(peer, 4).join()).isEqualTo(new Answer.NotHere());
        assertThat(ssd.failures().checksums()).isEqualTo(1);
        assertThat(peer.isLeftAlone()).isFalse();
    }
}
