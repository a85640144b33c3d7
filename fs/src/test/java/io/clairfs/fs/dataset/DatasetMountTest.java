package io.clairfs.fs.dataset;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.fs.protocol.NodeFilesystem;
import io.clairfs.fs.protocol.NodeStat;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The nodes of a listing, without a kernel. */
final class DatasetMountTest {
    private static final long ROOT = NodeFilesystem.ROOT;
    private static final long TIMEOUT_MS = 10_000;

    @TempDir
    private Path directory;

    private DatasetTree tree;
    private DatasetMount mount;

    @BeforeEach
    void list() throws Exception {
        for (String path : List.of("a/b/c", ".clairfs/hidden", "z")) {
            Files.createDirectories(directory.resolve(path));
        }
        Files.writeString(directory.resolve("a/b/file"), "file");
        Files.createSymbolicLink(directory.resolve("a/link"), Path.of("b/file"));
        tree = new DatasetTree(new DirectorySource(directory), 4, warning -> {});
        tree.complete().get();
        mount = new DatasetMount(tree, (_, _, _, _, _) -> {}, null, TIMEOUT_MS);
    }

    @AfterEach
    void close() {
        tree.close();
    }

    private long node(String path) throws IOException {
        long node = ROOT;
        for (String name : path.split("/", -1)) {
            node = mount.lookup(node, name.getBytes(UTF_8));
            assertThat(node).as(name).isNotEqualTo(NodeFilesystem.NONE);
        }
        return node;
    }

    private List<String> entries(long node, long first, int most) throws IOException {
        List<String> names = new ArrayList<>();
        mount.list(node, first, (name, type, entry) -> {
            if (names.size() == most) {
                return false;
            }
            assertThat(mount.lookup(node, name)).isEqualTo(entry);
            names.add(new String(name, UTF_8) + " " + Integer.toOctalString(type));
            return true;
        });
        return names;
    }

    @Test
    void everyEntry_hasANodeOfItsOwn_whosePathAndParentAreKnown() throws Exception {
        List<Long> nodes = new ArrayList<>(List.of(ROOT, node(".clairfs")));
        for (String path : List.of("a", "a/b", "a/b/c", "a/b/file", "a/link", "z")) {
            long node = node(path);
            assertThat(nodes).doesNotContain(node);
            nodes.add(node);
            assertThat(new String(mount.path(node), UTF_8)).isEqualTo("/" + path);
        }
        assertThat(mount.parent(node("a/b/c"))).isEqualTo(node("a/b"));
        assertThat(mount.parent(node("a"))).isEqualTo(ROOT);
        assertThat(mount.parent(ROOT)).isEqualTo(ROOT);
        assertThat(new String(mount.path(ROOT), UTF_8)).isEqualTo("/");
    }

    @Test
    void listing_goesOnWhereItWas_andLeavesOutTheControlDirectory() throws Exception {
        assertThat(entries(ROOT, 0, 10)).containsExactly("a 40000", "z 40000");
        assertThat(entries(ROOT, 0, 1)).containsExactly("a 40000");
        assertThat(entries(ROOT, 1, 10)).containsExactly("z 40000");
        assertThat(entries(ROOT, 2, 10)).isEmpty();
        assertThat(entries(node("a"), 0, 10)).containsExactly("b 40000", "link 120000");
        assertThat(entries(node(".clairfs"), 0, 10)).isEmpty();
    }

    @Test
    void controlDirectory_hidesWhatTheSourceHasThere() throws Exception {
        assertThat(mount.lookup(node(".clairfs"), "hidden".getBytes(UTF_8))).isEqualTo(NodeFilesystem.NONE);
    }

    @Test
    void link_saysWhatItSays_andNothingElseDoes() throws Exception {
        assertThat(new String(mount.linkTarget(node("a/link")), UTF_8)).isEqualTo("b/file");
        assertThatThrownBy(() -> mount.linkTarget(node("a/b/file"))).isInstanceOf(SourceFailedException.class);
        DatasetMount linked = new DatasetMount(tree, (_, _, _, _, _) -> {}, new byte[] {'/', 'c'}, TIMEOUT_MS);
        assertThat(linked.linkTarget(node(".clairfs"))).isEqualTo(new byte[] {'/', 'c'});
    }

    // As in the file systems of buckets, and in /proc.
    @Test
    void linkWithoutASizeInTheSource_hasThatOfItsTarget() throws Exception {
        try (Arena arena = Arena.ofConfined();
                DatasetTree links = new DatasetTree(
                        new DirectorySource(Path.of("/proc/self/ns").toRealPath()), 1, warning -> {})) {
            links.complete().get();
            DatasetMount ofLinks = new DatasetMount(links, (_, _, _, _, _) -> {}, null, TIMEOUT_MS);
            long link = ofLinks.lookup(ROOT, "pid".getBytes(UTF_8));
            assertThat(Posix.statAt(Posix.AT_FDCWD, "/proc/self/ns/pid".getBytes(UTF_8), Posix.AT_SYMLINK_NOFOLLOW)
                            .size())
                    .isZero();
            MemorySegment reply = arena.allocate(NodeStat.BYTES, 8);
            ofLinks.attributes(link, new NodeStat(reply, 0));
            assertThat(reply.get(JAVA_LONG, 8)).isEqualTo(ofLinks.linkTarget(link).length);
            assertThat(new String(ofLinks.linkTarget(link), UTF_8)).startsWith("pid:[");
        }
    }

    @Test
    void nodeOfNothing_isStale_andAFileIsNoDirectory() throws Exception {
        for (long node : new long[] {3, 15, 16L + tree.entryCount(), Long.MAX_VALUE, -1}) {
            assertThatThrownBy(() -> mount.lookup(node, new byte[] {'x'})).hasMessageContaining("Stale file handle");
        }
        long file = node("a/b/file");
        assertThatThrownBy(() -> mount.lookup(file, new byte[] {'x'})).hasMessageContaining("Not a directory");
    }

    @Test
    void types_areThoseOfTheListing() throws Exception {
        assertThat(entries(node("a/b"), 0, 10))
                .containsExactly(
                        "c " + Integer.toOctalString(FileStatus.DIRECTORY),
                        "file " + Integer.toOctalString(FileStatus.REGULAR));
    }
}
