package io.clairfs.cache.view;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.dataset.SavedListings;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceUnfitException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.ReadBytes;
import io.clairfs.cache.testing.Repeating;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.ssd.SsdTier;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A dataset in a view: its sizes, its samples, and that nothing of another view is taken for them. */
@Timeout(120)
final class ViewTest {
    private static final byte[] NAME = "/dataset".getBytes(UTF_8);
    private static final long MIB = 1 << 20;
    private static final long READERS_BYTES = 4 * MIB;
    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-01-02T03:04:05Z"));
    private static final String LONG_HEADER = "L" + "l".repeat(300_000);

    @TempDir
    Path directory;

    private Path dataset;
    private Path index;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = Files.createDirectory(directory.resolve("dataset"));
        index = directory.resolve("index");
        Files.writeString(dataset.resolve("twice"), "T1234");
        Files.writeString(dataset.resolve("broken"), "Broken");
        Files.writeString(dataset.resolve("plain"), "as it is");
        Files.writeString(dataset.resolve("empty"), "");
        Files.writeString(dataset.resolve("long"), LONG_HEADER);
        Files.setLastModifiedTime(dataset, LONG_AGO);
    }

    private static View times(int times) {
        return View.of(new Repeating(times));
    }

    private static DatasetTree listed(Source source, View view, SavedListings saved, Consumer<String> warnings)
            throws SourceException {
        DatasetTree tree = new DatasetTree(source, view, saved, 2, warnings);
        tree.complete().join();
        return tree;
    }

    private static void none(String warning) {
        throw new AssertionError(warning);
    }

    private static int file(DatasetTree tree, String name) throws SourceException {
        return Objects.requireNonNull(tree.find(name.getBytes(UTF_8), 1_000)).number();
    }

    /** Reads samples as a mount does. */
    private static final class Node implements AutoCloseable {
        private final DatasetTree tree;
        private final MemoryTier memory = new MemoryTier(64 * MIB);
        private final Admission admission;

        /** No time passes for it: what a reader has in hand stays until the end. */
        private final SamplesInUse inUse = new SamplesInUse(READERS_BYTES, () -> 0);

        private final Counters counters = new Counters();
        private final FetchRouter router;
        private final SampleReader reader;

        Node(Source source, DatasetTree tree) {
            this.tree = tree;
            admission = new Admission(tree, memory, List.of(), MIB);
            router = new FetchRouter(
                    new FetchPlaces(tree, source, admission, inUse, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                    counters,
                    System::nanoTime);
            reader = new SampleReader(tree, source, router, inUse, counters, new ErrorLog(Clock.systemUTC()), 60_000);
        }

        byte[] read(String name, long offset, int length) throws SourceException {
            return ReadBytes.of(reader, file(tree, name), offset, length);
        }

        String read(String name) throws SourceException {
            return new String(read(name, 0, (int) tree.fileSize(file(tree, name))), UTF_8);
        }

        @Override
        public void close() {
            reader.close();
            admission.close();
            memory.close();
            inUse.close();
        }
    }

    // Promise V1
    // Promise V2
    @Test
    void samples_areWhatTheViewMakes_inTheSizesThatAreListed() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), ViewTest::none);
                Node node = new Node(source, tree)) {
            assertThat(tree.fileSize(file(tree, "twice"))).isEqualTo(10);
            assertThat(tree.fileSize(file(tree, "plain"))).isEqualTo(8);
            assertThat(tree.fileSize(file(tree, "empty"))).isZero();
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
            assertThat(node.read("plain")).isEqualTo("as it is");
            assertThat(node.read("long")).isEqualTo(LONG_HEADER.repeat(2));
            assertThat(node.read("long", LONG_HEADER.length(), 2))
                    .asString(UTF_8)
                    .isEqualTo("Ll");
            assertThat(node.counters.fromSource.bytes()).isEqualTo(5 + 8 + LONG_HEADER.length());
            assertThat(tree.view().headersRead()).isEqualTo(5);
            assertThat(tree.view().made()).isEqualTo(2);
            assertThat(node.memory.samples()).as("what is kept").isGreaterThan(1);
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
            assertThat(tree.view().made()).as("not made again").isEqualTo(2);
        }
    }

    // Promise V4
    @Test
    void brokenFile_hasTheSourcesSize_andEveryReadFailsWithItsPath() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), ViewTest::none);
                Node node = new Node(source, tree)) {
            assertThat(tree.fileSize(file(tree, "broken"))).isEqualTo(6);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> node.read("broken"))
                        .isInstanceOf(SourceUnfitException.class)
                        .hasMessage("broken: broken");
            }
        }
    }

    /** Larger than what readers may hold in all: each request makes it, and gets its bytes. */
    @Test
    void sampleTooLargeToBeHeld_isMadeWhole_forARequestOfAPart() throws Exception {
        byte[] large = new byte[(int) READERS_BYTES];
        large[0] = 'T';
        large[1000] = 7;
        Files.write(dataset.resolve("large"), large);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, times(3), SavedListings.none(), ViewTest::none);
                Node node = new Node(source, tree)) {
            assertThat(node.read("large", 2 * READERS_BYTES + 1000, 1)).containsExactly(7);
            assertThat(node.read("large", READERS_BYTES - 1, 2)).containsExactly(0, 'T');
        }
    }

    // Promise V6
    @Test
    void fileOfAnotherLength_isRefused_thoughWhatIsMadeWouldHaveTheSameSize() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), ViewTest::none);
                Node node = new Node(source, tree)) {
            FileTime time = Files.getLastModifiedTime(dataset.resolve("twice"));
            Files.writeString(dataset.resolve("twice"), "T123456789");
            Files.setLastModifiedTime(dataset.resolve("twice"), time);
            assertThatThrownBy(() -> node.read("twice")).isInstanceOf(SourceChangedException.class);
        }
    }

    /** Fails reads of one file so many times. */
    private static final class Flaky extends ForwardingSource {
        private final String path;
        private final int errno;
        private final AtomicInteger left;

        Flaky(Source source, String path, int errno, int times) {
            super(source);
            this.path = path;
            this.errno = errno;
            left = new AtomicInteger(times);
        }

        @Override
        public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
            if (new String(file.path(), UTF_8).equals(path) && left.getAndDecrement() > 0) {
                throw new SourceFailedException(path, errno);
            }
            super.read(file, offset, into);
        }
    }

    // Promise V4
    @Test
    void headerThatIsNotGiven_isTriedAgain_andCostsNoOtherFileOfItsDirectory() throws Exception {
        List<String> warnings = new ArrayList<>();
        try (Flaky source = new Flaky(new DirectorySource(dataset), "twice", Errno.EIO, 3);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), warnings::add);
                Node node = new Node(source, tree)) {
            assertThat(warnings).isEmpty();
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
        }
        try (Flaky source = new Flaky(new DirectorySource(dataset), "twice", Errno.EIO, 5);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), warnings::add);
                Node node = new Node(source, tree)) {
            assertThat(warnings).singleElement().asString().contains("twice: ", "until it is mounted again");
            assertThat(node.read("plain")).isEqualTo("as it is");
            assertThatThrownBy(() -> node.read("twice"))
                    .isInstanceOf(SourceUnfitException.class)
                    .hasMessage("twice: its size was not known");
        }
    }

    private View mounted(int times, Source source) throws Exception {
        return mounted(times, source, SavedListings.Use.VERIFIED);
    }

    private View mounted(int times, Source source, SavedListings.Use use) throws Exception {
        View view = times(times);
        SavedListings saved = SavedListings.read(index, NAME, view, use);
        try (DatasetTree tree = listed(source, view, saved, _ -> {})) {
            assertThat(tree.fileSize(file(tree, "twice"))).isEqualTo(5L * times);
            assertThat(tree.fileSize(file(tree, "plain"))).isEqualTo(8);
            assertThat(tree.entry(file(tree, "twice")).file().size()).isEqualTo(5);
            if (saved.isNews()) {
                saved.write(index, NAME, tree);
            }
        }
        return view;
    }

    // Promise V3
    @Test
    void savedListing_hasTheSizes_soThatNoHeaderIsReadAgain() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset)) {
            assertThat(mounted(2, source).headersRead()).isEqualTo(5);
            assertThat(mounted(2, source).headersRead()).isZero();

            Files.writeString(dataset.resolve("new"), "T");
            assertThat(mounted(2, source).headersRead())
                    .as("the new file, and the one of which nothing can be made")
                    .isEqualTo(2);
            Files.setLastModifiedTime(dataset, LONG_AGO);
            Files.writeString(dataset.resolve("new"), "T+");
            Files.writeString(dataset.resolve("newer"), "T");
            assertThat(mounted(2, source).headersRead()).isEqualTo(3);

            assertThat(mounted(3, source).headersRead()).as("another view").isEqualTo(7);
        }
        SavedListings raw = SavedListings.read(index, NAME, SavedListings.Use.VERIFIED);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, View.raw(), raw, ViewTest::none)) {
            assertThat(raw.isUsed()).isFalse();
            assertThat(tree.fileSize(file(tree, "twice"))).isEqualTo(5);
        }
    }

    // Promise V3
    @Test
    void sizeThatIsNotKnown_isNotSaved() throws Exception {
        try (Flaky source = new Flaky(new DirectorySource(dataset), "plain", Errno.EIO, 5)) {
            assertThat(mounted(2, source).headersRead()).isEqualTo(9);
            assertThat(mounted(2, source).headersRead())
                    .as("that one, and the broken one")
                    .isEqualTo(2);
            assertThat(mounted(2, source).headersRead()).isZero();
        }
        try (Flaky source = new Flaky(new DirectorySource(dataset), "plain", Errno.EIO, 5)) {
            assertThat(mounted(3, source).headersRead()).isEqualTo(9);
            assertThat(mounted(3, source, SavedListings.Use.TRUSTED).headersRead())
                    .as("what is not known cannot be trusted")
                    .isEqualTo(2);
            assertThat(mounted(3, source, SavedListings.Use.TRUSTED).headersRead())
                    .isZero();
        }
    }

    // Promise V3
    @Test
    void sizeOfAFileThatMayNotBeReadYet_isNotSaved() throws Exception {
        try (Flaky source = new Flaky(new DirectorySource(dataset), "plain", Errno.EACCES, 1)) {
            View _ = mounted(2, source);
            assertThat(mounted(2, source).headersRead())
                    .as("that one, and the broken one")
                    .isEqualTo(2);
            assertThat(mounted(2, source).headersRead()).isZero();
        }
    }

    // Promise V5
    @Test
    void groupsOfDifferentViews_haveDifferentFingerprints() throws Exception {
        Files.delete(dataset.resolve("twice"));
        Files.delete(dataset.resolve("long"));
        Files.delete(dataset.resolve("broken"));
        List<String> prints = new ArrayList<>();
        for (View view : List.of(View.raw(), times(2), times(3), times(2).keeping(KeptForm.RAW))) {
            try (DirectorySource source = new DirectorySource(dataset);
                    DatasetTree tree = listed(source, view, SavedListings.none(), ViewTest::none)) {
                prints.add(HexFormat.of().formatHex(FileNumbers.of(tree).fingerprint()));
            }
        }
        assertThat(prints).as("though all sizes are the same").doesNotHaveDuplicates();
    }

    // Promise V8
    @Test
    void filesThatAreKept_areMadeEachTime_withoutTheSource() throws Exception {
        View view = times(3).keeping(KeptForm.RAW);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, view, SavedListings.none(), ViewTest::none);
                Node node = new Node(source, tree)) {
            node.admission.follow(LocalPlan.WHILE_ROOM);
            int twice = file(tree, "twice");
            assertThat(tree.keptSize(twice)).isEqualTo(5);
            assertThat(tree.fileSize(twice)).isEqualTo(15);
            for (int time = 1; time <= 3; time++) {
                SampleBuffer sample = node.router.fetch(twice, false);
                assertThat(new String(sample.bytes().toArray(JAVA_BYTE), UTF_8)).isEqualTo("T1234T1234T1234");
                sample.release();
                assertThat(view.made()).isEqualTo(time);
            }
            SampleBuffer kept = node.router.fetchKept(twice);
            assertThat(new String(kept.bytes().toArray(JAVA_BYTE), UTF_8)).isEqualTo("T1234");
            kept.release();
            assertThat(node.counters.fromSource.bytes()).isEqualTo(5);
            assertThat(node.read("twice")).isEqualTo("T1234T1234T1234");
            assertThat(node.read("twice", 7, 3)).asString(UTF_8).isEqualTo("234");
            assertThat(view.made())
                    .as("a reader that comes in pieces has it made once")
                    .isEqualTo(4);
            assertThat(node.read("plain")).isEqualTo("as it is");
            assertThat(node.read("long")).isEqualTo(LONG_HEADER.repeat(3));
            assertThatThrownBy(() -> node.read("broken")).isInstanceOf(SourceUnfitException.class);
            assertThat(node.router.isInMemory(twice)).as("as it is shown").isFalse();
            assertThat(node.admission.residents().isHere(twice)).isTrue();
        }
    }

    // Promise V8
    @Test
    void whileTheFormIsNotDecided_nothingThatIsMadeIsKept() throws Exception {
        View view = times(2).keeping(KeptForm.UNDECIDED);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, view, SavedListings.none(), ViewTest::none);
                Node node = new Node(source, tree)) {
            int twice = file(tree, "twice");
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
            assertThat(node.admission.residents().isHere(twice)).isFalse();
            view.decide(KeptForm.RAW);
            view.decide(KeptForm.MADE);
            assertThat(view.kept()).as("decided once").isEqualTo(KeptForm.RAW);
            node.router.fetch(file(tree, "long"), true).release();
            SampleBuffer kept = node.router.fetchKept(file(tree, "long"));
            assertThat(kept.size()).isEqualTo(LONG_HEADER.length());
            kept.release();
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
        }
    }

    // Promise V8
    @Test
    void diskOfKeptFiles_isTheRawViews_andNoneOfTheMadeOnes() throws Exception {
        Path ssd = directory.resolve("ssd");
        List<View> views =
                List.of(times(1).keeping(KeptForm.RAW), times(1), View.raw(), times(3).keeping(KeptForm.RAW));
        List<Boolean> has = List.of(false, false, true, true);
        long used = 0;
        for (int i = 0; i < views.size(); i++) {
            try (DirectorySource source = new DirectorySource(dataset);
                    DatasetTree tree = listed(source, views.get(i), SavedListings.none(), ViewTest::none);
                    SsdTier tier = new SsdTier(ssd, "/data", 64 * MIB, 0, System::nanoTime, ViewTest::none)) {
                tier.recover(tree);
                int twice = file(tree, "twice");
                assertThat(tier.contains(twice)).as("mount %d", i).isEqualTo(has.get(i));
                if (has.get(i)) {
                    assertThat(tier.usedBytes()).as("mount %d", i).isEqualTo(used);
                }
                if (i == 0) {
                    SampleBuffer sample = sample(5);
                    assertThat(tier.keep(twice, sample)).isTrue();
                    sample.release();
                    used = tier.usedBytes();
                }
            }
        }
    }

    @Test
    void cheaperForm_followsFromRoomAndSpeeds() {
        double mb = 1e6;
        assertThat(KeptForm.cheaper(100, 500, 500, 10 * mb, 10 * mb))
                .as("all fits")
                .isEqualTo(KeptForm.MADE);
        assertThat(KeptForm.cheaper(100, 500, 100, 10 * mb, 100 * mb))
                .as("the files fit, and making is quicker than the source")
                .isEqualTo(KeptForm.RAW);
        assertThat(KeptForm.cheaper(100, 500, 100, 1_000 * mb, 10 * mb))
                .as("the source is quick, so that what is made already saves more")
                .isEqualTo(KeptForm.MADE);
        assertThat(KeptForm.cheaper(100, 500, 0, 10 * mb, 10 * mb))
                .as("no room")
                .isEqualTo(KeptForm.MADE);
    }

    private static SampleBuffer sample(int bytes) {
        SampleBuffer sample = SampleBuffer.allocate(bytes);
        sample.bytes().fill((byte) 'T');
        return sample;
    }

    // Promise V5
    @Test
    void diskOfAnotherView_givesNothing_thoughPathSizeAndTimeAreTheSame() throws Exception {
        Path ssd = directory.resolve("ssd");
        List<View> views = List.of(times(1), View.raw(), View.of(new OtherOfTheSameSize()), times(1));
        for (int i = 0; i < views.size(); i++) {
            try (DirectorySource source = new DirectorySource(dataset);
                    DatasetTree tree = listed(source, views.get(i), SavedListings.none(), ViewTest::none);
                    SsdTier tier = new SsdTier(ssd, "/data", 64 * MIB, 0, System::nanoTime, ViewTest::none)) {
                tier.recover(tree);
                int twice = file(tree, "twice");
                assertThat(tree.fileSize(twice)).isEqualTo(5);
                assertThat(tier.contains(twice)).as("mount %d", i).isEqualTo(i == 3);
                if (i == 0) {
                    SampleBuffer sample = sample(5);
                    assertThat(tier.keep(twice, sample)).isTrue();
                    sample.release();
                }
            }
        }
    }

    /** Makes something else of the same size as {@code Repeating(1)}. */
    private static final class OtherOfTheSameSize implements Transform {
        private final Repeating once = new Repeating(1);

        @Override
        public String identity() {
            return "other";
        }

        @Override
        public long madeBytes(MemorySegment head, long fileBytes) throws UnfitFileException {
            return once.madeBytes(head, fileBytes);
        }

        @Override
        public void make(MemorySegment file, MemorySegment into) {
            into.fill((byte) 'o');
        }
    }
}
