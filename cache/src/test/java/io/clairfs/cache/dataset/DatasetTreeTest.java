package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.view.View;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Listing real directories. */
final class DatasetTreeTest {
    private static final long TIMEOUT_MS = 60_000;

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

    /** A source of one directory {@code a} that always tells one more name, which is gone when it is examined, or stays. */
    private static final class Vanishing extends ForwardingSource {
        private final AtomicInteger told = new AtomicInteger();
        private final boolean stays;

        Vanishing(Source source, boolean stays) {
            super(source);
            this.stays = stays;
        }

        @Override
        public List<byte[]> names(byte[] path) throws SourceException {
            List<byte[]> names = new ArrayList<>(super.names(path));
            names.addAll(super.names(path)); // as some tell each that is renamed twice
            if (path.length > 0) {
                names.add(("tmp" + (stays ? 0 : told.incrementAndGet())).getBytes(UTF_8));
            }
            return names;
        }
    }

    @Test
    void directoryInWhichNamesVanishAllTheTime_isListedWithoutThem_andNamesThatAreToldTwiceAreOne() throws Exception {
        Files.createDirectories(directory.resolve("a"));
        Files.writeString(directory.resolve("a/1"), "hello");
        Files.createDirectories(directory.resolve(".clairfs"));
        try (Vanishing source = new Vanishing(new DirectorySource(directory), false);
                DatasetTree tree = new DatasetTree(source, 2, _ -> {})) {
            tree.complete().join();
            assertThat(tree.fileCount()).isEqualTo(1);
            assertThat(tree.entryCount()).as("a and a/1").isEqualTo(2);
            assertThat(tree.find("a/1".getBytes(UTF_8), TIMEOUT_MS)).isNotNull();
        }
    }

    // Promise E4
    @Test
    void nameThatIsToldButNotThere_failsItsDirectoryForTheTimeBeing() throws Exception {
        Files.createDirectories(directory.resolve("a"));
        Files.writeString(directory.resolve("a/1"), "hello");
        try (Vanishing source = new Vanishing(new DirectorySource(directory), true);
                DatasetTree tree = new DatasetTree(source, 2, _ -> {})) {
            assertThatThrownBy(() -> tree.find("a/1".getBytes(UTF_8), TIMEOUT_MS))
                    .hasMessageContaining("is listed, but is not there");
            assertThat(tree.failures()).contains("it is tried again");
            Files.writeString(directory.resolve("a/tmp0"), "came");
            tree.complete().join();
            assertThat(tree.fileCount()).isEqualTo(2);
        }
    }

    private static String said(String command) throws Exception {
        Process process = new ProcessBuilder("sh", "-c", command).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        process.waitFor();
        return said;
    }

    @Test
    void fileOfAFarYear_isListedAndReadLikeOthers() throws Exception {
        List<String> kept = new ArrayList<>(); // each file system keeps other years
        for (int year : new int[] {1600, 2400}) { // beyond what fits into 64 bits of nanoseconds
            Path file = Files.writeString(directory.resolve("of" + year), "hello");
            // Java's own call keeps to the years that fit.
            String after = said("touch -d " + year + "-01-01 '" + file + "' && stat -c %y '" + file + "'");
            if (after.startsWith(year + "-")) {
                kept.add("of" + year);
            } else {
                Files.delete(file);
            }
        }
        Assumptions.assumeFalse(kept.isEmpty(), "skipped: this file system keeps no such year");
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 4, _ -> {});
                Arena arena = Arena.ofConfined()) {
            tree.complete().join();
            assertThat(tree.fileCount()).isEqualTo(kept.size());
            for (String name : kept) {
                Entry entry = Objects.requireNonNull(tree.find(name.getBytes(UTF_8), TIMEOUT_MS));
                MemorySegment into = arena.allocate(5);
                source.read(entry.file(), 0, into);
                assertThat(into.toArray(ValueLayout.JAVA_BYTE)).isEqualTo("hello".getBytes(UTF_8));
            }
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
        Files.createDirectories(directory.resolve("closed/deep"));
        List<String> warnings = Collections.synchronizedList(new ArrayList<>());
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.names.put("closed/deep", Errno.EACCES);
            try (DatasetTree tree = new DatasetTree(source, 1, warnings::add)) {
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                assertThat(warnings).containsExactly("cannot list directory closed/deep: Permission denied");
            }
        }
    }

    // Promise E4
    @Test
    void directoryThatStaysAway_isGivenUpWithTheRemedy_andTheRestIsComplete() throws Exception {
        Files.createDirectories(directory.resolve("away"));
        Files.writeString(directory.resolve("top"), "top");
        List<String> warnings = Collections.synchronizedList(new ArrayList<>());
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.names.put("away", Errno.ENOENT);
            try (DatasetTree tree = new DatasetTree(source, 2, warnings::add)) {
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                source.names.clear();
                assertThat(tree.find("top".getBytes(UTF_8), TIMEOUT_MS)).isNotNull();
                assertThatThrownBy(() -> tree.find("away/x".getBytes(UTF_8), TIMEOUT_MS))
                        .isInstanceOfSatisfying(
                                SourceFailedException.class,
                                e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT))
                        .hasMessageContaining("unmount, and mount again");
                assertThat(warnings)
                        .containsExactly(
                                "cannot list directory away: No such file or directory",
                                "cannot list directory away: No such file or directory; it is not tried again: unmount,"
                                        + " and mount again");
            }
        }
    }

    @Test
    void names_ofADirectoryThatIsNotThere_failsAndNamesIt() throws Exception {
        try (DirectorySource source = new DirectorySource(directory)) {
            assertThatThrownBy(() -> source.names("nothing".getBytes(UTF_8)))
                    .isInstanceOf(SourceFailedException.class)
                    .hasMessageContaining("nothing: No such file");
        }
    }

    // Promise C1
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

    // Promise E4
    @Test
    void directoryThatFails_isAFailureToAll_andIsListedAgainByItself() throws Exception {
        Files.createDirectories(directory.resolve("a/b"));
        Files.writeString(directory.resolve("a/b/leaf"), "hello");
        Files.writeString(directory.resolve("top"), "top");
        List<String> warnings = Collections.synchronizedList(new ArrayList<>());
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.names.put("a/b", Errno.EIO);
            try (DatasetTree tree = new DatasetTree(source, 4, warnings::add)) {
                assertThatThrownBy(() -> tree.find("a/b/leaf".getBytes(UTF_8), TIMEOUT_MS))
                        .isInstanceOfSatisfying(
                                SourceFailedException.class,
                                e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
                assertThat(tree.find("top".getBytes(UTF_8), TIMEOUT_MS)).isNotNull();
                assertThat(tree.complete()).isNotDone();
                assertThat(tree.failures())
                        .isEqualTo("cannot list directory a/b: Input/output error; it is tried again");

                source.names.clear();
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                Entry leaf = Objects.requireNonNull(tree.find("a/b/leaf".getBytes(UTF_8), TIMEOUT_MS));
                assertThat(tree.entry(leaf.number())).isEqualTo(leaf);
                assertThat(tree.fileCount()).isEqualTo(2);
                assertThat(tree.failures()).isNull();
                assertThat(warnings)
                        .containsExactly(
                                "cannot list directory a/b: Input/output error", "listed after all: directory a/b");
            }
        }
    }

    // Promise E4
    @Test
    void nameThatCannotBeExamined_failsItsDirectory_ratherThanBeingLeftOut() throws Exception {
        Files.createDirectories(directory.resolve("a"));
        Files.writeString(directory.resolve("a/1"), "one");
        Files.writeString(directory.resolve("a/2"), "two");
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.statuses.put("a/2", Errno.EIO);
            try (DatasetTree tree = new DatasetTree(source, 4, _ -> {})) {
                assertThatThrownBy(() -> tree.find("a/1".getBytes(UTF_8), TIMEOUT_MS))
                        .isInstanceOf(SourceFailedException.class);
                assertThat(tree.failures()).startsWith("cannot list directory a (a/2: Input/output error)");
                source.statuses.clear();
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                assertThat(tree.fileCount()).isEqualTo(2);
            }
        }
    }

    @Test
    void nameThatVanishesWhileItIsListed_isNotThere() throws Exception {
        Files.createDirectories(directory.resolve("a"));
        Files.writeString(directory.resolve("a/1"), "one");
        Path vanishing = Files.writeString(directory.resolve("a/2"), "two");
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.vanishing = vanishing;
            try (DatasetTree tree = new DatasetTree(source, 1, _ -> {})) {
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                assertThat(tree.fileCount()).isEqualTo(1);
                assertThat(tree.find("a/2".getBytes(UTF_8), TIMEOUT_MS)).isNull();
            }
        }
    }

    @Test
    void directoryThatIsRefused_staysAFailure_andTheRestIsComplete() throws Exception {
        Files.createDirectories(directory.resolve("closed"));
        Files.writeString(directory.resolve("top"), "top");
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.names.put("closed", Errno.EACCES);
            try (DatasetTree tree = new DatasetTree(source, 4, _ -> {})) {
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                assertThatThrownBy(() -> tree.find("closed/x".getBytes(UTF_8), TIMEOUT_MS))
                        .isInstanceOf(SourceFailedException.class);
                assertThatThrownBy(() -> IndexRule.of("sorted").index(tree, tree.root()))
                        .isInstanceOf(SourceFailedException.class)
                        .hasMessage("closed: Permission denied");
            }
        }
    }

    // Promise E4
    @Test
    void directoryWhoseListingFailsUnexpectedly_isAFailureToAll_andIsListedAgain() throws Exception {
        Files.createDirectories(directory.resolve("a"));
        Files.writeString(directory.resolve("a/1"), "one");
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.bug = "a";
            try (DatasetTree tree = new DatasetTree(source, 2, _ -> {})) {
                assertThatThrownBy(() -> tree.find("a/1".getBytes(UTF_8), TIMEOUT_MS))
                        .isInstanceOfSatisfying(
                                SourceFailedException.class,
                                e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
                assertThat(tree.failures())
                        .isEqualTo("cannot list directory a (listing failed with java.lang.IllegalStateException:"
                                + " a: Input/output error); it is tried again");
                source.bug = null;
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                assertThat(tree.fileCount()).isEqualTo(1);
            }
        }
    }

    // Promise W3
    @Test
    void thoseWhoAskOneAfterAnotherForAListingThatHangs_shareOneWait() throws Exception {
        Files.createDirectories(directory.resolve("a"));
        AtomicLong clock = new AtomicLong();
        try (FailingSource source = new FailingSource(new DirectorySource(directory))) {
            source.hanging = new CountDownLatch(1);
            try (DatasetTree tree = new DatasetTree(source, View.raw(), SavedListings.none(), 2, _ -> {}, clock::get)) {
                byte[] file = "a/1".getBytes(UTF_8);
                assertThat(tree.list(tree.root(), TIMEOUT_MS).count())
                        .isEqualTo(1); // it takes longer than 5 ms at times
                assertThatThrownBy(() -> tree.find(file, 5))
                        .hasMessageStartingWith("listing /a: the source did not answer");
                for (int others = 0; others < 10; others++) {
                    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(400));
                    assertThatThrownBy(() -> tree.find(file, 5))
                            .isInstanceOf(SourceTimeoutException.class)
                            .hasMessageStartingWith("listing /a, asked for again: the source did not answer");
                }
                assertThatThrownBy(() -> tree.find(file, 6))
                        .as("who may wait longer does")
                        .hasMessageStartingWith("listing /a: the source did not answer");
                clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
                assertThatThrownBy(() -> tree.find(file, 5))
                        .as("who comes later waits himself")
                        .hasMessageStartingWith("listing /a: the source did not answer");
                source.hanging.countDown();
                tree.complete().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
                assertThat(tree.find(file, 5)).isNull();
            } finally {
                source.hanging.countDown();
            }
        }
    }

    /** A source that fails for some paths, for as long as it is told to. */
    private static final class FailingSource extends ForwardingSource {
        final Map<String, Integer> names = new ConcurrentHashMap<>();
        final Map<String, Integer> statuses = new ConcurrentHashMap<>();

        /** A file that is deleted between being named and being examined. */
        volatile @Nullable Path vanishing;

        /** A directory that cannot be listed because of a bug. */
        volatile @Nullable String bug;

        /** While it is closed, directories below the root are not listed. */
        volatile CountDownLatch hanging = new CountDownLatch(0);

        FailingSource(Source below) {
            super(below);
        }

        @Override
        public List<byte[]> names(byte[] path) throws SourceException {
            fail(names, path);
            if (new String(path, UTF_8).equals(bug)) {
                throw new IllegalStateException(bug);
            }
            if (path.length > 0) {
                try {
                    hanging.await();
                } catch (InterruptedException ended) {
                    throw new SourceFailedException("interrupted", Errno.EIO);
                }
            }
            List<byte[]> found = super.names(path);
            Path gone = vanishing;
            if (gone != null && new String(path, UTF_8).equals("a")) {
                try {
                    Files.deleteIfExists(gone);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
            return found;
        }

        @Override
        public FileStatus status(byte[] path) throws SourceException {
            fail(statuses, path);
            return super.status(path);
        }

        private static void fail(Map<String, Integer> with, byte[] path) throws SourceException {
            String text = new String(path, UTF_8);
            Integer errno = with.get(text);
            if (errno != null) {
                throw new SourceFailedException(text, errno);
            }
        }
    }

    private static void rewrite(Path file) throws IOException {
        Files.writeString(file, "after!");
        Files.setLastModifiedTime(file, java.nio.file.attribute.FileTime.fromMillis(0));
    }
}
