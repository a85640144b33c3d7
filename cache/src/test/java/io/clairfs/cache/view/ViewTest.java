package io.clairfs.cache.view;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SavedListings;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceUnfitException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A dataset in a view: its samples, their sizes, and the sizes that are saved for the next mount. */
@Timeout(120)
final class ViewTest extends ViewFixture {
    private static final byte[] NAME = "/dataset".getBytes(UTF_8);

    // Promise V1
    // Promise V2
    @Test
    void samples_areWhatTheViewMakes_inTheSizesThatAreListed() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), ViewFixture::none);
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
                DatasetTree tree = listed(source, times(2), SavedListings.none(), ViewFixture::none);
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
                DatasetTree tree = listed(source, times(3), SavedListings.none(), ViewFixture::none);
                Node node = new Node(source, tree)) {
            assertThat(node.read("large", 2 * READERS_BYTES + 1000, 1)).containsExactly(7);
            assertThat(node.read("large", READERS_BYTES - 1, 2)).containsExactly(0, 'T');
        }
    }

    // Promise V6
    @Test
    void fileOfAnotherLength_isRefused_thoughWhatIsMadeWouldHaveTheSameSize() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, times(2), SavedListings.none(), ViewFixture::none);
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

    /** One of its files is another one whenever it is looked at. */
    private static final class Changing extends ForwardingSource {
        private final String path;
        private final AtomicInteger looks = new AtomicInteger();

        Changing(Source source, String path) {
            super(source);
            this.path = path;
        }

        @Override
        public FileStatus status(byte[] file) throws SourceException {
            FileStatus now = super.status(file);
            if (!new String(file, UTF_8).equals(path)) {
                return now;
            }
            long mtimeNs = now.mtimeNs() + looks.incrementAndGet();
            return new FileStatus(now.mode(), now.uid(), now.gid(), now.size(), mtimeNs, now.inode(), now.ctimeNs());
        }
    }

    // Promise V4
    @Test
    void fileThatChangesWheneverItIsLookedAt_costsNoOtherFileOfItsDirectory() throws Exception {
        List<String> warnings = new ArrayList<>();
        try (Changing source = new Changing(new DirectorySource(dataset), "twice");
                DatasetTree tree = listed(source, times(2), SavedListings.none(), warnings::add);
                Node node = new Node(source, tree)) {
            assertThat(warnings).singleElement().asString().contains("twice changed", "until it is mounted again");
            assertThat(tree.fileSize(file(tree, "twice"))).isEqualTo(5);
            assertThat(node.read("plain")).isEqualTo("as it is");
            assertThatThrownBy(() -> node.read("twice")).isInstanceOf(SourceChangedException.class);
        }
    }

    private Path index() {
        return directory.resolve("index");
    }

    private View mounted(int times, Source source) throws Exception {
        return mounted(times, source, SavedListings.Use.VERIFIED);
    }

    private View mounted(int times, Source source, SavedListings.Use use) throws Exception {
        View view = times(times);
        SavedListings saved = SavedListings.read(index(), NAME, view, use);
        try (DatasetTree tree = listed(source, view, saved, _ -> {})) {
            assertThat(tree.fileSize(file(tree, "twice"))).isEqualTo(5L * times);
            assertThat(tree.fileSize(file(tree, "plain"))).isEqualTo(8);
            assertThat(tree.entry(file(tree, "twice")).file().size()).isEqualTo(5);
            if (saved.isNews()) {
                saved.write(index(), NAME, tree);
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
        SavedListings raw = SavedListings.read(index(), NAME, SavedListings.Use.VERIFIED);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, View.raw(), raw, ViewFixture::none)) {
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
}
