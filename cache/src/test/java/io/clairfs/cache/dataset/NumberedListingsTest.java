package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.testing.Repeating;
import io.clairfs.cache.view.View;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tree that another process goes on with has the same numbers, without a call to the source. */
final class NumberedListingsTest {
    private static final int DIRECTORIES = 40;

    @TempDir
    Path directory;

    private Path dataset;
    private Path file;

    /** A source that answers nothing. */
    private static final class Silent extends ForwardingSource {
        Silent(Source source) {
            super(source);
        }

        @Override
        public List<byte[]> names(byte[] path) throws SourceException {
            throw new SourceFailedException("asked for the names of " + new String(path, UTF_8), 5);
        }

        @Override
        public FileStatus status(byte[] path) throws SourceException {
            throw new SourceFailedException("asked for the status of " + new String(path, UTF_8), 5);
        }
    }

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = Files.createDirectory(directory.resolve("dataset"));
        file = directory.resolve("listing");
        for (int i = 0; i < DIRECTORIES; i++) {
            Path deep = Files.createDirectories(dataset.resolve("d" + i).resolve("deeper"));
            for (int j = 0; j < i % 5; j++) {
                Files.writeString(deep.resolve("ü" + j), "x".repeat(i + j));
                Files.writeString(deep.resolveSibling("f" + j), "y".repeat(j));
            }
            Files.createDirectory(dataset.resolve("d" + i).resolve("empty"));
        }
        Files.createSymbolicLink(dataset.resolve("link"), Path.of("d3/f1"));
    }

    private static List<String> entries(DatasetTree tree) {
        List<String> all = new ArrayList<>();
        for (int number = 0; number < tree.entryCount(); number++) {
            Entry entry = tree.entry(number);
            String target = entry.kind() == Listing.Kind.LINK
                    ? new String(entry.listing().linkTarget(entry.at()), UTF_8)
                    : "";
            all.add(new String(entry.path(), UTF_8) + " " + entry.kind() + " " + entry.size() + " "
                    + entry.listing().mtimeNs(entry.at()) + " " + tree.attributes(entry) + " " + target);
        }
        return all;
    }

    private static DatasetTree list(Source source) throws SourceException {
        DatasetTree tree = new DatasetTree(source, 8, _ -> {});
        tree.complete().join();
        return tree;
    }

    @Test
    void treeOfAnotherProcess_hasTheSameNumbersAndAsksNothing() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree before = list(source)) {
            NumberedListings.write(file, before);

            try (DatasetTree after = DatasetTree.restored(
                    NumberedListings.read(file, View.raw()), new Silent(source), 2, AssertionError::new)) {
                assertThat(after.complete()).isCompleted();
                assertThat(entries(after)).isEqualTo(entries(before)).hasSizeGreaterThan(3 * DIRECTORIES);
                assertThat(after.rootStatus()).isEqualTo(before.rootStatus());
                assertThat(after.fileBytes()).isEqualTo(before.fileBytes());
                Entry empty = Objects.requireNonNull(after.find("d7/empty".getBytes(UTF_8), 1));
                assertThat(after.list(empty.listing().subdirectory(empty.at()), 1)
                                .count())
                        .isZero();
            }
        }
    }

    /** Refuses to list some directories. */
    private static final class Refusing extends ForwardingSource {
        private final List<String> refused;

        Refusing(Source source, List<String> refused) {
            super(source);
            this.refused = refused;
        }

        @Override
        public List<byte[]> names(byte[] path) throws SourceException {
            String directory = new String(path, UTF_8);
            if (refused.contains(directory)) {
                throw new SourceFailedException(directory, Errno.EACCES);
            }
            return super.names(path);
        }
    }

    @Test
    void directoryThatWasRefused_staysSo_forItsEntriesWouldGetOtherNumbersEachTime() throws Exception {
        List<String> refused = List.of("d3", "d7");
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree before = list(new Refusing(source, refused))) {
            NumberedListings.write(file, before);

            try (DatasetTree after =
                    DatasetTree.restored(NumberedListings.read(file, View.raw()), source, 2, AssertionError::new)) {
                for (String each : refused) {
                    Entry entry = Objects.requireNonNull(after.find(each.getBytes(UTF_8), 1));
                    assertThatThrownBy(() -> after.list(entry.listing().subdirectory(entry.at()), 1))
                            .isInstanceOfSatisfying(
                                    SourceFailedException.class,
                                    e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
                }
                assertThat(after.entryCount()).isEqualTo(before.entryCount());
                assertThat(entries(after)).isEqualTo(entries(before));
            }
        }
    }

    @Test
    void fileOfAnotherView_isRefused_alsoByWhoOnlyAsks() throws Exception {
        View other = View.of(new Repeating(2));
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree before = list(source)) {
            NumberedListings.write(file, before);
        }
        NumberedListings.requireReadable(file, View.raw());
        assertThatThrownBy(() -> NumberedListings.requireReadable(file, other))
                .hasMessageContaining(other.identity() + "': unmount, and mount again");
        assertThatThrownBy(() -> NumberedListings.read(file, other))
                .hasMessageContaining(other.identity() + "': unmount, and mount again");
    }

    @Test
    void damagedFile_isRefused() throws Exception {
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree before = list(source)) {
            NumberedListings.write(file, before);
        }
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);

        assertThatThrownBy(() -> NumberedListings.read(file, View.raw())).hasMessageContaining("is damaged");
        assertThatThrownBy(() -> NumberedListings.requireReadable(file, View.raw()))
                .hasMessageContaining("is damaged");
    }
}
