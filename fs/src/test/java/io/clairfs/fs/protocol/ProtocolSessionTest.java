package io.clairfs.fs.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.slow.NativeReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A real mount of files full of the letter x. */
@Timeout(120)
final class ProtocolSessionTest {
    /** Where every run mounts, so that a run finds what a killed one left. */
    private static final Path POINT = Path.of("target", "protocol-session-test").toAbsolutePath();

    private static final List<String> OPTIONS = List.of("default_permissions", "fsname=a b,c\\d", "subtype=test");
    private static final int FILES = 200;
    private static final int BYTES = 3 << 20;
    private static final long TIMEOUT_MS = 60_000;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment content = arena.allocate(BYTES).fill((byte) 'x');
    private final AtomicLong longest = new AtomicLong();
    private final Semaphore asked = new Semaphore(0);
    private final Queue<ReadReply> waiting = new ConcurrentLinkedQueue<>();
    private volatile FlatFilesystem.Reads reads = this::answer;
    private ProtocolSession session;

    @BeforeEach
    void mount() throws Exception {
        boolean there = Files.isWritable(Path.of("/dev/fuse"));
        if (!there) {
            System.out.println("SKIPPED ProtocolSessionTest: there is no /dev/fuse that this user may open");
        }
        assumeTrue(there, "no /dev/fuse that this user may open");
        while (MountTable.at(POINT).isPresent()) {
            Fusermount.detach(POINT);
        }
        Files.createDirectories(POINT);
        FlatFilesystem files = new FlatFilesystem(FILES, BYTES, (f, o, n, r) -> reads.read(f, o, n, r));
        session = ProtocolSession.mount(POINT, OPTIONS, files, new ErrnoTable((_, _, _) -> {}));
    }

    @AfterEach
    void unmount() {
        if (session != null) {
            waiting.forEach(reply -> reply.failed(new IllegalStateException("the end of the test")));
            session.close();
        }
        arena.close();
    }

    private void answer(long file, long offset, int length, ReadReply reply) {
        longest.accumulateAndGet(length, Math::max);
        long there = Math.clamp(BYTES - offset, 0, length);
        reply.bytes(content.asSlice(0, there));
    }

    /** Keeps whoever asks waiting, in a thread of the session. */
    private FlatFilesystem.Reads holding(CountDownLatch gate) {
        return (file, offset, length, reply) -> {
            asked.release();
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            answer(file, offset, length, reply);
        };
    }

    private void awaitAsked(int times) throws InterruptedException {
        assertThat(asked.tryAcquire(times, TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();
    }

    /** Past the page cache, for of reads ahead the kernel has a bounded number under way. */
    private List<Process> readEachOf(int files) throws Exception {
        List<Process> readers = new ArrayList<>();
        for (int file = 0; file < files; file++) {
            readers.add(NativeReader.start(
                    "dd if=\"$1/file-$2\" bs=512 count=1 iflag=direct status=none | wc -c", POINT, file));
        }
        return readers;
    }

    @Test
    void mountTable_hasTheNamesThatWereGiven() throws Exception {
        assertThat(MountTable.at(POINT))
                .hasValueSatisfying(
                        mount -> assertThat(mount).isEqualTo(new MountTable.Mount("a b,c\\d", POINT, "fuse.test")));
    }

    @Test
    void closeOfASessionThatWasDetached_leavesWhatIsMountedInItsPlace() throws Exception {
        Process holder = NativeReader.start("exec 3<\"$1/file-1\"; echo open; exec sleep 600", POINT);
        try {
            assertThat(holder.inputReader().readLine()).isEqualTo("open");
            Fusermount.detach(POINT);
            FlatFilesystem files = new FlatFilesystem(FILES, BYTES, (f, o, n, r) -> reads.read(f, o, n, r));
            try (ProtocolSession _ = ProtocolSession.mount(POINT, OPTIONS, files, new ErrnoTable((_, _, _) -> {}))) {
                session.close();
                assertThat(MountTable.at(POINT)).isPresent();
                NativeReader length = NativeReader.sh("wc -c <\"$1/file-2\"", POINT);
                assertThat(length.output().strip()).isEqualTo(Integer.toString(BYTES));
            }
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }

    @Test
    void bytes_areThoseOfTheFile_andALargeReadIsOneRequest() throws Exception {
        NativeReader sum =
                NativeReader.sh("dd if=\"$1/file-1\" bs=1M iflag=direct status=none | tr -d x | wc -c", POINT);
        assertThat(sum.output().strip()).isEqualTo("0");
        assertThat(longest).hasValue(1 << 20);
        assertThat(session.requests(Operation.READ)).isLessThanOrEqualTo(BYTES / (1 << 20) + 1);
        assertThat(NativeReader.sh("tr -d x <\"$1/file-2\" | wc -c; wc -c <\"$1/file-2\"", POINT)
                        .output())
                .isEqualTo("0\n" + BYTES + "\n");
    }

    @Test
    void filesWhoseAttributesWereSeen_areReadWithoutALookUp() throws Exception {
        String walk = "find \"$1\" -type f -size " + BYTES + "c | wc -l";
        assertThat(NativeReader.sh(walk, POINT).output().strip()).isEqualTo(Integer.toString(FILES));
        List<Integer> open = openAll();
        long asked = session.requests(Operation.GETATTR);
        assertThat(NativeReader.sh("cat \"$1\"/file-* | wc -c", POINT).output().strip())
                .isEqualTo(Long.toString((long) FILES * BYTES));
        assertThat(session.requests(Operation.GETATTR)).isEqualTo(asked);
        open.forEach(Posix::close);
    }

    /** The kernel may forget a file that nobody has open, when memory is short. */
    private static List<Integer> openAll() throws Exception {
        List<Integer> open = new ArrayList<>();
        for (int file = 0; file < FILES; file++) {
            open.add(Posix.openAt(
                    Posix.AT_FDCWD, POINT.resolve("file-" + file).toString().getBytes(UTF_8), Posix.O_RDONLY));
        }
        return open;
    }

    @Test
    void inodeNumber_isTheNode() throws Exception {
        assertThat(NativeReader.sh("stat -c %i \"$1\" \"$1/file-7\"; ls -i \"$1\" | grep -w file-9", POINT)
                        .output())
                .isEqualTo("1\n107\n109 file-9\n");
    }

    // Promise W6
    @Test
    void readsThatWait_keepNobodyElseWaiting() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        reads = holding(gate);
        int many = Negotiation.MAX_BACKGROUND + 12;
        List<Process> readers = readEachOf(many);
        awaitAsked(many);
        reads = this::answer;
        assertThat(NativeReader.sh("head -c 3 \"$1/file-" + (FILES - 1) + "\"", POINT))
                .isEqualTo(new NativeReader(0, "xxx"));
        gate.countDown();
        for (Process reader : readers) {
            assertThat(NativeReader.await(reader)).isEqualTo(new NativeReader(0, "512\n"));
        }
    }

    @Test
    void read_mayBeAnsweredLaterByAnotherThread() throws Exception {
        reads = (_, _, _, reply) -> {
            waiting.add(reply);
            asked.release();
        };
        Process reader = NativeReader.start("dd if=\"$1/file-1\" bs=1k count=1 iflag=direct status=none", POINT);
        awaitAsked(1);
        waiting.remove().bytes(content.asSlice(0, 1024));
        assertThat(NativeReader.await(reader).output()).isEqualTo("x".repeat(1024));
    }

    /** The kernel refuses such a reply. */
    @Test
    void errnoThatTheKernelTakesFromNobody_isAnInputOutputError() throws Exception {
        reads = (_, _, _, reply) -> reply.failed(new SourceFailedException("file", 524));
        Process reader = NativeReader.start("cat \"$1/file-1\" 2>&1", POINT);
        assertThat(reader.inputReader().readLine()).contains("Input/output error");
    }

    @Test
    void readerThatIsKilled_leavesTheSessionAsItWas() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        reads = holding(gate);
        Process reader = NativeReader.start("exec head -c 1 \"$1/file-1\"", POINT);
        awaitAsked(1);
        reader.destroyForcibly();
        gate.countDown();
        assertThat(reader.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();
        assertThat(NativeReader.sh("head -c 1 \"$1/file-1\"", POINT)).isEqualTo(new NativeReader(0, "x"));
    }

    @Test
    void sessionThatIsEndedFromOutside_hasEnded_thoughARequestIsStillHeld() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        reads = holding(gate);
        Process reader = NativeReader.start("head -c 1 \"$1/file-1\"", POINT);
        awaitAsked(1);
        FuseConnection.abort(POINT);
        assertThat(NativeReader.await(reader).exitCode()).isNotZero();
        assertThat(session.awaitEnd(TIMEOUT_MS)).isTrue();
        while (!session.channel().isGivenBack()) { // a thread may be about to leave it that has answered the look-up
            TimeUnit.MILLISECONDS.sleep(1);
        }
        gate.countDown();
    }

    @Test
    void pointThatCannotBeMountedOn_isNamedWithTheReason() {
        Path missing = POINT.resolveSibling("protocol-session-test-missing");
        FlatFilesystem none = new FlatFilesystem(0, 0, (_, _, _, _) -> {});
        assertThatThrownBy(() -> ProtocolSession.mount(missing, OPTIONS, none, new ErrnoTable((_, _, _) -> {})))
                .isInstanceOf(MountException.class)
                .hasMessageContaining(missing.toString())
                .hasMessageContaining("No such file or directory");
    }
}
