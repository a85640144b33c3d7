package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceFailedException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Listing real directories. */
final class DatasetTreeTest {
    private static final long TIMEOUT_MS = 10_000;

    private @TempDir Path directory;

    @Test
    void find_everyEntryWithItsAttributes() throws Exception {
        Files.createDirectories(directory.resolve("a/b/c"));
        Files.writeString(directory.resolve("a/b/c/leaf"), "hello");
        Files.createSymbolicLink(directory.resolve("a/link"), Path.of("b/c/leaf"));
        List<String> warnings = new ArrayList<>();
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 4, warnings::add)) {
            Entry leaf = Objects.requireNonNull(tree.find("/a/b/c/leaf".getBytes(UTF_8), TIMEOUT_MS));
            assertThat(leaf.size()).isEqualTo(5);
            assertThat(leaf.kind()).isEqualTo(Listing.Kind.FILE);
            assertThat(new String(leaf.path(), UTF_8)).isEqualTo("a/b/c/leaf");
            Entry link = Objects.requireNonNull(tree.find("/a/link".getBytes(UTF_8), TIMEOUT_MS));
            assertThat(link.kind()).isEqualTo(Listing.Kind.LINK);
            assertThat(tree.find("/a/none".getBytes(UTF_8), TIMEOUT_MS)).isNull();
            assertThat(tree.find("/a/b/c/leaf/more".getBytes(UTF_8), TIMEOUT_MS))
                    .isNull();
            tree.complete().join();
            assertThat(tree.fileCount()).isEqualTo(1);
            assertThat(tree.fileBytes()).isEqualTo(5);
            assertThat(tree.entry(leaf.number())).isEqualTo(leaf);
            assertThat(warnings).isEmpty();
        }
    }

    @Test
    void largeDirectory_isListedInPiecesAndInByteOrder() throws Exception {
        int files = 5000;
        for (int i = 0; i < files; i++) {
            Files.createFile(directory.resolve("f" + i));
        }
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 4, _ -> {})) {
            Listing listing = tree.list(tree.root(), TIMEOUT_MS);
            assertThat(listing.count()).isEqualTo(files);
            for (int at = 1; at < files; at++) {
                assertThat(PathOrder.BYTES.compare(listing.name(at - 1), listing.name(at)))
                        .isNegative();
            }
        }
    }

    @Test
    void unlistableDirectory_isWarnedOfByName() throws Exception {
        Files.createDirectories(directory.resolve("gone/deep"));
        try (DirectorySource source = new DirectorySource(directory)) {
            assertThatThrownBy(() -> source.names("nothing".getBytes(UTF_8)))
                    .isInstanceOf(SourceFailedException.class)
                    .hasMessageContaining("nothing: No such file");
        }
    }

    @Test
    void read_changedFile_isRefused() throws Exception {
        Path file = directory.resolve("x");
        Files.writeString(file, "before");
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 2, _ -> {});
                Arena arena = Arena.ofConfined()) {
            Entry entry = Objects.requireNonNull(tree.find("x".getBytes(UTF_8), TIMEOUT_MS));
            MemorySegment into = arena.allocate(6);
            source.read(entry.file(), 0, into);
            assertThat(new String(into.toArray(ValueLayout.JAVA_BYTE), UTF_8)).isEqualTo("before");
            rewrite(file);
            assertThatThrownBy(() -> source.read(entry.file(), 0, into)).isInstanceOf(SourceChangedException.class);
            Files.delete(file);
            assertThatThrownBy(() -> source.read(entry.file(), 0, into)).isInstanceOf(SourceFailedException.class);
            Files.createSymbolicLink(file, Path.of("/etc/passwd"));
            assertThatThrownBy(() -> source.read(entry.file(), 0, into)).isInstanceOf(SourceChangedException.class);
        }
    }

    private static void rewrite(Path file) throws IOException {
        Files.writeString(file, "after!");
        Files.setLastModifiedTime(file, java.nio.file.attribute.FileTime.fromMillis(0));
    }
}
