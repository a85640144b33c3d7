package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.SavedListings.Use;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tree that is mounted again is not walked again, and never shown as it was when it has changed. */
final class SavedListingsTest {
    private static final byte[] NAME = "/data/set".getBytes(UTF_8);
    private static final Instant LONG_AGO = Instant.parse("2020-01-02T03:04:05.678Z");

    @TempDir
    Path directory;

    private Path dataset;
    private Path file;

    /** Counts what a source is asked for. */
    private static final class Asked extends ForwardingSource {
        final AtomicInteger listings = new AtomicInteger();
        final AtomicInteger statuses = new AtomicInteger();

        Asked(Source source) {
            super(source);
        }

        @Override
        public List<byte[]> names(byte[] path) throws SourceException {
            listings.incrementAndGet();
            return super.names(path);
        }

        @Override
        public FileStatus status(byte[] path) throws SourceException {
            statuses.incrementAndGet();
            return super.status(path);
        }
    }

    /** What a mount asked for, and what it shows. */
    private record Mounted(int listings, int statuses, List<String> shown, boolean isNews, boolean isUsed) {}

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = Files.createDirectory(directory.resolve("dataset"));
        file = directory.resolve("saved");
        for (String name : List.of("a", "b", "b/empty", "b/c")) {
            Files.createDirectory(dataset.resolve(name));
        }
        for (int i = 0; i < 30; i++) {
            Files.writeString(dataset.resolve("a/f" + i), "x".repeat(i));
            Files.writeString(dataset.resolve("b/c/ü" + i), "y".repeat(2 * i));
        }
        Files.setPosixFilePermissions(dataset.resolve("a/f3"), PosixFilePermissions.fromString("rw-------"));
        Files.createSymbolicLink(dataset.resolve("b/link"), Path.of("../a/f1"));
        Files.createSymbolicLink(dataset.resolve("b/another"), Path.of("nowhere"));
        age();
    }

    private void age() throws IOException {
        try (var all = Files.walk(dataset)) {
            for (Path path : all.filter(Files::isDirectory).toList()) {
                Files.setLastModifiedTime(path, FileTime.from(LONG_AGO));
            }
        }
    }

    private Mounted mount(Use use) throws Exception {
        SavedListings saved = SavedListings.read(file, NAME, use);
        Asked asked = new Asked(new DirectorySource(dataset));
        try (asked;
                DatasetTree tree = new DatasetTree(asked, saved, 2, line -> {
                    throw new AssertionError(line);
                })) {
            tree.complete().join();
            List<String> shown = new ArrayList<>();
            show(tree, tree.root(), shown);
            boolean isNews = saved.isNews();
            if (isNews) {
                saved.write(file, NAME, tree);
            }
            return new Mounted(asked.listings.get(), asked.statuses.get(), shown, isNews, saved.isUsed());
        }
    }

    private static void show(DatasetTree tree, Directory from, List<String> into) throws SourceException {
        Listing listing = tree.list(from, 1_000);
        for (int at = 0; at < listing.count(); at++) {
            Entry entry = new Entry(listing, at);
            String target = entry.kind() == Listing.Kind.LINK ? new String(listing.linkTarget(at), UTF_8) : "";
            into.add(new String(entry.path(), UTF_8) + " " + entry.kind() + " " + entry.size() + " "
                    + listing.mtimeNs(at) + " " + tree.attributes(entry) + " " + target);
            if (entry.kind() == Listing.Kind.DIRECTORY) {
                show(tree, listing.subdirectory(at), into);
            }
        }
    }

    @Test
    void unchangedTree_isShownWithoutAListing() throws Exception {
        Mounted first = mount(Use.VERIFIED);
        assertThat(first.isNews).isTrue();
        assertThat(first.isUsed).isFalse();
        Mounted second = mount(Use.VERIFIED);
        assertThat(second.shown).isEqualTo(first.shown);
        assertThat(second.listings).isZero();
        assertThat(second.statuses)
                .as("the root once more, and every directory")
                .isEqualTo(1 + 5);
        assertThat(second.isNews).isFalse();
        assertThat(second.isUsed).isTrue();
    }

    @Test
    void changedDirectory_isListedAgain_andNoOther() throws Exception {
        mount(Use.VERIFIED);
        Files.writeString(dataset.resolve("b/c/new"), "new");
        Mounted second = mount(Use.VERIFIED);
        assertThat(second.shown).anyMatch(line -> line.startsWith("b/c/new FILE 3 "));
        assertThat(second.listings).isEqualTo(1);
        assertThat(second.isNews).isTrue();
    }

    /** Its time is ahead, so it has just changed for as long as this test takes. */
    @Test
    void directoryThatHasJustChanged_isListedAgain_forItMayChangeOnceMoreInTheSameTick() throws Exception {
        Files.setLastModifiedTime(
                dataset.resolve("a"), FileTime.from(Instant.now().plus(Duration.ofHours(1))));
        mount(Use.VERIFIED);
        assertThat(mount(Use.VERIFIED).listings).isEqualTo(1);
    }

    @Test
    void anotherDirectoryOfTheSameNameAndTime_isListedAgain() throws Exception {
        mount(Use.VERIFIED);
        Files.move(dataset.resolve("a"), directory.resolve("old"));
        Files.createDirectory(dataset.resolve("a"));
        for (Path changed : List.of(dataset, dataset.resolve("a"))) {
            Files.setLastModifiedTime(changed, FileTime.from(LONG_AGO));
        }
        Mounted second = mount(Use.VERIFIED);
        assertThat(second.listings).isEqualTo(2);
        assertThat(second.shown).noneMatch(line -> line.startsWith("a/"));
    }

    // Promise C5
    @Test
    void directoryWhoseTimeWasSetBack_isListedAgain() throws Exception {
        mount(Use.VERIFIED);
        Files.writeString(dataset.resolve("b/c/new"), "new");
        Files.setLastModifiedTime(dataset.resolve("b/c"), FileTime.from(LONG_AGO));
        Mounted second = mount(Use.VERIFIED);
        assertThat(second.listings).isEqualTo(1);
        assertThat(second.shown).anyMatch(line -> line.startsWith("b/c/new FILE 3 "));
    }

    @Test
    void directoryThatIsGone_isGone() throws Exception {
        mount(Use.VERIFIED);
        Files.delete(dataset.resolve("b/empty"));
        Mounted second = mount(Use.VERIFIED);
        assertThat(second.shown).noneMatch(line -> line.startsWith("b/empty"));
        assertThat(mount(Use.VERIFIED).shown).isEqualTo(second.shown);
    }

    @Test
    void trustedIndex_asksForNothingButTheRoot() throws Exception {
        List<String> before = mount(Use.VERIFIED).shown;
        Files.writeString(dataset.resolve("b/c/new"), "new");
        Mounted trusted = mount(Use.TRUSTED);
        assertThat(trusted.statuses).isEqualTo(1);
        assertThat(trusted.listings).isZero();
        assertThat(trusted.shown).isEqualTo(before);
        assertThat(mount(Use.VERIFIED).shown).anyMatch(line -> line.startsWith("b/c/new"));
    }

    @Test
    void ofAnotherSource_nothingIsTaken() throws Exception {
        mount(Use.VERIFIED);
        SavedListings other = SavedListings.read(file, "/data/other".getBytes(UTF_8), Use.TRUSTED);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = new DatasetTree(source, other, 2, line -> {})) {
            tree.complete().join();
            assertThat(other.isUsed()).isFalse();
        }
    }

    // Promise C5
    @Test
    void damagedFile_isNotTaken_whereverTheDamageIs() throws Exception {
        List<String> shown = mount(Use.VERIFIED).shown;
        byte[] whole = Files.readAllBytes(file);
        Random random = new Random(5);
        for (int round = 0; round < 200; round++) {
            byte[] damaged = whole.clone();
            damaged[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            assertThat(mount(Use.TRUSTED)).matches(m -> !m.isUsed && m.shown.equals(shown));
        }
        for (int length = 0; length < whole.length; length += 1 + whole.length / 50) {
            Files.write(file, java.util.Arrays.copyOf(whole, length));
            assertThat(mount(Use.TRUSTED).isUsed).isFalse();
        }
    }
}
