package io.clairfs.fs.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.fs.mount.FileHandle;
import io.clairfs.fs.mount.FileStat;
import io.clairfs.fs.mount.OpenFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Bytes in, errno or bytes out: the callbacks as the kernel calls them, without a kernel. */
class ControlMountTest {
    private static final int READ_ONLY = 0;
    private static final int READ_WRITE = 2;

    private final Arena arena = Arena.ofConfined();
    private final Lines lines = new Lines();
    private final Map<List<String>, ControlTree.Node> nodes = Map.of(
            List.of(), new ControlTree.DirectoryNode(List.of("status", "job")),
            List.of("status"), new ControlTree.FileNode(() -> content("all is well\n")),
            List.of("busy"),
                    new ControlTree.FileNode(() -> {
                        throw new ControlFile.UnavailableException(Errno.EAGAIN);
                    }),
            List.of("job"), new ControlTree.FileNode(lines));
    private final ControlMount mount = new ControlMount(nodes::get, Clock.systemUTC());

    /** A file that takes lines which begin with "start", and cannot judge those which begin with "later". */
    private static final class Lines implements ControlFile {
        private final List<String> taken = new ArrayList<>();
        private final List<String> refused = new ArrayList<>();

        @Override
        public ControlContent content() {
            return ControlMountTest.content(String.join("", taken));
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void accept(String text) throws RejectedException, UnavailableException {
            if (text.startsWith("later")) {
                throw new UnavailableException(Errno.EIO);
            }
            if (!text.startsWith("start")) {
                throw new RejectedException(text);
            }
            taken.add(text);
        }

        @Override
        public void refused(String reason) {
            refused.add(reason);
        }
    }

    private static ControlContent content(String text) {
        return new LineContent(1, _ -> text.getBytes(UTF_8), 0);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private static byte[] path(String path) {
        return path.getBytes(UTF_8);
    }

    private FileHandle opened(String path, int flags) {
        FileHandle handle = OpenFile.with(arena, flags);
        assertThat(mount.open(path(path), handle)).isZero();
        return handle;
    }

    private String read(FileHandle handle, long offset) {
        MemorySegment into = arena.allocate(4096);
        int got = mount.read(path("/anything"), into, offset, handle);
        assertThat(got).isNotNegative();
        return new String(into.asSlice(0, got).toArray(JAVA_BYTE), UTF_8);
    }

    private int write(String path, String text) {
        return mount.write(
                path(path), arena.allocateFrom(JAVA_BYTE, text.getBytes(UTF_8)), 0, OpenFile.with(arena, READ_WRITE));
    }

    @Test
    void typesAndPermissions_sayWhatMayBeDone() {
        FileStat stat = OpenFile.stat(arena);
        assertThat(mount.getattr(path("/"), stat)).isZero();
        assertThat(OpenFile.mode(stat)).isEqualTo(FileStatus.DIRECTORY | 0555);
        assertThat(mount.getattr(path("/status"), stat)).isZero();
        assertThat(OpenFile.mode(stat)).isEqualTo(FileStatus.REGULAR | 0444);
        assertThat(mount.getattr(path("/job"), stat)).isZero();
        assertThat(OpenFile.mode(stat)).isEqualTo(FileStatus.REGULAR | 0644);
        assertThat(mount.getattr(path("/none"), stat)).isEqualTo(-Errno.ENOENT);
    }

    @Test
    void directory_isListed_andAFileIsNone() {
        List<String> names = new ArrayList<>();
        assertThat(mount.readdir(path("/"), (name, _) -> names.add(new String(name, UTF_8))))
                .isZero();
        assertThat(names).containsExactly("status", "job");
        assertThat(mount.readdir(path("/status"), (_, _) -> {})).isEqualTo(-Errno.ENOENT);
    }

    @Test
    void content_isOfTheMomentOfOpen_andBelongsToTheOpenFile() {
        assertThat(write("/job", "start a\n")).isEqualTo(8);
        FileHandle first = opened("/job", READ_ONLY);
        assertThat(write("/job", "start b\n")).isEqualTo(8);
        FileHandle second = opened("/job", READ_ONLY);
        assertThat(read(first, 0)).isEqualTo("start a\n");
        assertThat(read(second, 6)).isEqualTo("a\nstart b\n");
        assertThat(read(second, 100)).isEmpty();
        assertThat(mount.release(path("/job"), first)).isZero();
        assertThat(mount.read(path("/job"), arena.allocate(10), 0, first)).isEqualTo(-Errno.EBADF);
        assertThat(read(second, 0)).isEqualTo("start a\nstart b\n");
    }

    @Test
    void fileThatHasNothingToSayNow_cannotBeOpened() {
        assertThat(mount.open(path("/busy"), OpenFile.with(arena, READ_ONLY))).isEqualTo(-Errno.EAGAIN);
        assertThat(mount.open(path("/none"), OpenFile.with(arena, READ_ONLY))).isEqualTo(-Errno.ENOENT);
    }

    @Test
    void fileThatTakesNothing_isNotOpenedForWriting_norCut() {
        assertThat(mount.open(path("/status"), OpenFile.with(arena, READ_WRITE)))
                .isEqualTo(-Errno.EACCES);
        assertThat(mount.truncate(path("/status"), 0)).isEqualTo(-Errno.EACCES);
        assertThat(mount.truncate(path("/job"), 0)).isZero();
        assertThat(mount.truncate(path("/none"), 0)).isEqualTo(-Errno.ENOENT);
        assertThat(write("/status", "start a\n")).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void whatIsNotAccepted_failsTheWrite_andIsNotTaken() {
        assertThat(write("/job", "nonsense\n")).isEqualTo(-Errno.EINVAL);
        assertThat(write("/job", "later\n")).isEqualTo(-Errno.EIO);
        assertThat(write("/none", "start a\n")).isEqualTo(-Errno.ENOENT);
        assertThat(lines.taken).isEmpty();
    }

    @Test
    void messageOfMoreThan31Pages_isRefusedUnread() {
        int longest = 31 * 4096;
        assertThat(write("/job", "start" + "x".repeat(longest - 5))).isEqualTo(longest);
        assertThat(write("/job", "start" + "x".repeat(longest - 4))).isEqualTo(-Errno.EINVAL);
        assertThat(lines.taken).hasSize(1);
        assertThat(lines.refused).containsExactly("a message has at most " + longest + " bytes");
    }

    @Test
    void filesOpenAtOnce_areBounded() {
        List<FileHandle> open = new ArrayList<>();
        for (int i = 0; i < 1024; i++) {
            open.add(opened("/status", READ_ONLY));
        }
        assertThat(mount.open(path("/status"), OpenFile.with(arena, READ_ONLY))).isEqualTo(-Errno.EMFILE);
        mount.release(path("/status"), open.getFirst());
        assertThat(read(opened("/status", READ_ONLY), 0)).isEqualTo("all is well\n");
    }
}
