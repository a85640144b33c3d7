package io.clairfs.fs.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.stage.StagingArea.Staged;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.mount.MountedSession;
import io.clairfs.fs.protocol.ProtocolSession;
import io.clairfs.fs.slow.NativeReader;
import io.clairfs.fs.testing.NeedsFuse;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

@Timeout(120)
@NeedsFuse
final class PageCacheTest {
    /** Where every run mounts, so that a run finds what a killed one left. */
    private static final Path POINT = Path.of("target", "page-cache-test").toAbsolutePath();

    private static final int FILES = 40;

    /** A further file, the last. */
    private static final String LARGE = "large";

    private static final String PYTHON = "python3 -c \"$1\" \"$2\"";
    private static final long MIB = 1 << 20;
    private static final long LARGE_BYTES = 6 * MIB + 1000;
    private static final long TIMEOUT_MS = 60_000;

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofShared();
    private DatasetTree tree;
    private MountedSession session;

    @BeforeEach
    void mount() throws Exception {
        while (MountTable.at(POINT).isPresent()) {
            Fusermount.detach(POINT);
        }
        Files.createDirectories(POINT);
        Path source = Files.createDirectory(directory.resolve("source"));
        for (int i = 0; i < FILES; i++) {
            Files.writeString(source.resolve(name(i)), content(i));
        }
        try (RandomAccessFile large = new RandomAccessFile(source.resolve(LARGE).toFile(), "rw")) {
            large.setLength(LARGE_BYTES);
        }
        tree = new DatasetTree(new DirectorySource(source), 2, warning -> {});
        tree.complete().get();
        DatasetMount mount = new DatasetMount(
                tree, (file, at, length, _, reply) -> reply.bytes(zeros(file, at, length)), null, TIMEOUT_MS);
        session = ProtocolSession.mount(POINT, DatasetMount.OPTIONS, mount, new ErrnoTable((_, _, _) -> {}));
    }

    @AfterEach
    void unmount() {
        if (session != null) {
            session.close();
            tree.close();
        }
        arena.close();
    }

    /** As many bytes as were asked for, none of them the file's: a shorter answer would change the kernel's mind about the file's size. */
    private MemorySegment zeros(Entry file, long at, int length) {
        return arena.allocate(Math.clamp(file.size() - at, 0, length));
    }

    private static String name(int file) {
        return "%03d".formatted(file);
    }

    private static String content(int file) {
        return "content of " + file;
    }

    private Staged stage(PageCache pages, int file) throws IOException {
        byte[] text = content(file).getBytes(UTF_8);
        MemorySegment bytes = arena.allocate(text.length);
        bytes.copyFrom(MemorySegment.ofArray(text));
        return pages.stage(file, bytes);
    }

    /** Open ones of files of the mount; what else the process has open comes and goes. */
    private static int descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return (int) all.filter(PageCacheTest::isOfTheMount).count();
        }
    }

    private static boolean isOfTheMount(Path descriptor) {
        try {
            Path target = Files.readSymbolicLink(descriptor);
            return target.startsWith(POINT) && !target.equals(POINT);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    private List<Staged> stageAll(PageCache pages) throws IOException {
        List<Staged> staged = new ArrayList<>();
        for (int file = 0; file < FILES; file++) {
            staged.add(stage(pages, file));
        }
        return staged;
    }

    private static void requireAllReadRight() throws Exception {
        StringBuilder expected = new StringBuilder();
        for (int file = 0; file < FILES; file++) {
            expected.append(content(file));
        }
        assertThat(NativeReader.sh("cat \"$1\"/[0-9]*", POINT)).isEqualTo(new NativeReader(0, expected.toString()));
    }

    @Test
    void stagedSamples_keepADescriptorEach_whileThereAreFew() throws Exception {
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            assertThat(descriptors()).isZero();
            List<Staged> staged = stageAll(pages);
            assertThat(descriptors()).isEqualTo(FILES);
            requireAllReadRight();
            assertThat(session.requests(Operation.READ)).isZero();
            staged.forEach(Staged::drop);
            assertThat(descriptors()).isZero();
        }
    }

    private static void needsCachestat() throws Exception {
        int fd = Posix.openAt(Posix.AT_FDCWD, "/proc/self/exe".getBytes(UTF_8), Posix.O_RDONLY);
        boolean isTold = CachedPages.isTold(fd);
        Posix.close(fd);
        assumeTrue(isTold, "the kernel has no cachestat (Linux 6.5), so it is not known which pages are there");
    }

    @Test
    void droppedSamples_areGone_andAskNothingWhenTheyAreStagedOnceMore() throws Exception {
        needsCachestat();
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            stageAll(pages).forEach(Staged::drop);
            List<Integer> open = new ArrayList<>(); // the kernel may forget a file that nobody has open
            for (int file = 0; file < FILES; file++) {
                int fd = Posix.openAt(
                        Posix.AT_FDCWD, POINT.resolve(name(file)).toString().getBytes(UTF_8), Posix.O_RDONLY);
                open.add(fd);
                assertThat(CachedPages.isGone(fd, content(file).length()))
                        .as(name(file))
                        .isTrue();
            }
            long asked = session.requests(Operation.GETATTR);
            List<Staged> staged = stageAll(pages);
            requireAllReadRight();
            assertThat(session.requests(Operation.GETATTR)).isEqualTo(asked);
            assertThat(session.requests(Operation.READ)).isZero();
            staged.forEach(Staged::drop);
            open.forEach(Posix::close);
        }
    }

    /** The kernel leaves a page that anything else looks at in this moment, such as its own search for memory. */
    private static void dropAsSomebodyElse(byte[] path) throws Exception {
        String drop = "import os, sys; fd = os.open(sys.argv[1], os.O_RDONLY);"
                + " os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)";
        String file = POINT.resolve(new String(path, UTF_8)).toString();
        Process process =
                new ProcessBuilder("python3", "-c", drop, file).inheritIO().start();
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void pagesThatSomebodyDropped_areMissed() throws Exception {
        needsCachestat();
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            List<Staged> staged = stageAll(pages);
            assertThat(staged).allMatch(Staged::isWhole);
            while (staged.get(1).isWhole()) {
                dropAsSomebodyElse(tree.entry(1).path());
            }
            assertThat(staged.get(2).isWhole()).isTrue();
            staged.forEach(Staged::drop);
            assertThat(descriptors()).isZero();
        }
    }

    private Staged stageLarge(PageCache pages, int content) throws IOException {
        MemorySegment bytes = arena.allocate(LARGE_BYTES);
        bytes.fill((byte) content);
        return pages.stage(FILES, bytes);
    }

    @Test
    void ofALargeSample_onlyThePartsAreStagedThatAreNotThere() throws Exception {
        needsCachestat();
        String drop = """
                import os, sys
                fd = os.open(sys.argv[1], os.O_RDONLY)
                os.posix_fadvise(fd, 2 << 20, 1 << 20, os.POSIX_FADV_DONTNEED)
                """;
        String look = """
                import itertools, sys
                content = open(sys.argv[1], "rb").read()
                print([(key, len(list(all))) for key, all in itertools.groupby(content)])
                """;
        String file = POINT.resolve(LARGE).toString();
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            assertThatThrownBy(() -> pages.stageRead(FILES, arena.allocate(LARGE_BYTES)))
                    .hasMessageContaining("not there");
            assertThat(descriptors()).isZero();
            String only = "[(1, %d), (2, %d), (1, %d)]\n".formatted(2 * MIB, MIB, LARGE_BYTES - 3 * MIB);
            String came = "";
            for (int attempt = 0;
                    attempt < 10 && !came.equals(only);
                    attempt++) { // the machine may take other pages as well
                came = afterOneMoreStaging(pages, file, drop, look);
            }
            assertThat(came).isEqualTo(only);
        }
    }

    /** What readers see of a sample of ones that has lost pages and is staged once more, of twos; zeros where they have asked. */
    private String afterOneMoreStaging(PageCache pages, String file, String drop, String look) throws Exception {
        Staged staged = stageLarge(pages, 1);
        while (staged.isWhole()) {
            NativeReader _ = NativeReader.sh(PYTHON, drop, file);
        }
        MemorySegment others = arena.allocate(LARGE_BYTES);
        others.fill((byte) 2);
        Staged once = pages.stageRead(FILES, others);
        assertThat(once.isWhole()).isTrue();
        String seen = NativeReader.sh(PYTHON, look, file).output();
        once.drop();
        staged.drop();
        return seen;
    }

    @Test
    void stagedSamples_keepNoDescriptor_whenTheProcessHasManyOpen_andAreReadFromThePageCacheAllTheSame()
            throws Exception {
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), 0)) {
            List<Staged> staged = stageAll(pages);
            assertThat(descriptors()).isZero();
            requireAllReadRight();
            assertThat(session.requests(Operation.READ)).isZero();
            staged.forEach(Staged::drop);
        }
    }

    @Test
    void samplesThatLeaveBeforeTheMountEnds_keepTheirPages_andNoDescriptor() throws Exception {
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            List<Staged> staged = stageAll(pages);
            pages.leavePages();
            staged.forEach(Staged::drop);
            assertThat(descriptors()).isZero();
            requireAllReadRight();
            assertThat(session.requests(Operation.READ)).isZero();
        }
    }

    /** Such as by {@code umount -f} or by the kernel's {@code abort} file. */
    private void endFromOutside() throws Exception {
        FuseConnection.abort(POINT);
        assertThat(session.awaitEnd(TIMEOUT_MS)).isTrue();
        while (!session.channel().isGivenBack()) { // a thread may be about to leave it that has answered a request
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    // A later file of the process gets the number that the session's descriptor had.
    @Test
    void pushAfterTheSessionHasEnded_fails_andWritesIntoNobodysFile() throws Exception {
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            Staged first = stage(pages, 1); // so that the kernel knows the name when nobody answers any more
            int number = session.channel().number();
            endFromOutside();
            List<Integer> files = new ArrayList<>();
            Path own = Files.createFile(directory.resolve("own"));
            while (!files.contains(number)) {
                files.add(Posix.openAt(Posix.AT_FDCWD, own.toString().getBytes(UTF_8), Posix.O_WRONLY));
                assertThat(files.size()).as("number %d comes again", number).isLessThan(1000);
            }
            assertThatThrownBy(() -> stage(pages, 1)).isInstanceOf(IOException.class);
            first.drop();
            assertThat(own).isEmptyFile();
            files.forEach(Posix::close);
        }
    }

    // Inode numbers of another filesystem are the node numbers of other files here.
    @Test
    void fileOverWhichAnotherIsMounted_isNotStaged_andDamagesNoOther() throws Exception {
        assumeTrue(ProcessIdentity.userId() == 0, "only root mounts one file over another");
        Path memory = Files.createDirectory(directory.resolve("memory"));
        assertThat(NativeReader.sh("mount -t tmpfs none \"$1\"", memory).exitCode())
                .isZero();
        Path covered = POINT.resolve(name(5));
        try (PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE)) {
            Path other = fileWithNumber(memory, DatasetMount.node(7));
            Staged seventh = stage(pages, 7);
            Files.writeString(other, content(5));
            assertThat(NativeReader.sh("mount --bind \"$1\" \"$2\"", other, covered)
                            .exitCode())
                    .isZero();
            assertThatThrownBy(() -> stage(pages, 5)).hasMessageContaining("something else is mounted over it");
            assertThat(POINT.resolve(name(7))).hasContent(content(7));
            assertThat(covered).hasContent(content(5));
            seventh.drop();
        } finally {
            NativeReader.sh("umount -l \"$2\"; umount -l \"$1\"", memory, covered);
        }
    }

    /** A new file with this inode number, of a filesystem that numbers its files one after the other. */
    private static Path fileWithNumber(Path filesystem, long number) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Path file = Files.createFile(filesystem.resolve("file" + i));
            if (Posix.statAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), 0).inode() == number) {
                return file;
            }
        }
        throw new TestAbortedException(
                "tmpfs numbers its files for itself since Linux 5.9; none has the number " + number);
    }

    @Test
    void pushAfterTheEnd_failsAndOpensNothingBelowSomebodysDirectory() throws Exception {
        PageCache pages = new PageCache(tree, POINT, session.channel(), Integer.MAX_VALUE);
        Staged first = stage(pages, 1);
        pages.close();
        assertThatThrownBy(() -> stage(pages, 1)).isInstanceOf(IOException.class);
        first.drop();
        assertThat(pages.isMounted()).isFalse();
    }
}
