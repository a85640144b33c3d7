package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes of requests and replies, as include/uapi/linux/fuse.h has them. A file stands for the kernel. */
final class RequestDispatcherTest {
    private static final long UNIQUE = 0x1122334455667788L;
    private static final int FILES = 300;
    private static final int BYTES = 1000;
    private static final int O_APPEND = 02000;

    @TempDir
    private Path directory;

    private final Arena arena = Arena.ofShared();
    private final List<String> log = new ArrayList<>();
    private final CompletableFuture<Negotiation> accepted = new CompletableFuture<>();
    private FlatFilesystem.Reads reads = (_, _, _, _) -> {};
    private Path kernel;
    private SharedDescriptor channel;
    private RequestDispatcher dispatcher;

    @BeforeEach
    void open() throws Exception {
        kernel = Files.createFile(directory.resolve("kernel"));
        channel = new SharedDescriptor(
                Posix.openAt(Posix.AT_FDCWD, kernel.toString().getBytes(UTF_8), Posix.O_WRONLY | O_APPEND));
        FlatFilesystem filesystem = new FlatFilesystem(FILES, BYTES, (f, o, n, r) -> reads.read(f, o, n, r));
        ErrnoTable errnos = new ErrnoTable((operation, path, _) -> log.add(operation + " " + new String(path, UTF_8)));
        dispatcher = new RequestDispatcher(filesystem, errnos, channel, accepted);
    }

    @AfterEach
    void close() {
        channel.close();
        arena.close();
    }

    private void forgetReplies() throws IOException {
        Files.write(kernel, new byte[0]);
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }

    private void send(int opcode, long node, byte[] parameters) {
        MemorySegment request = arena.allocate(KernelRequest.HEADER_BYTES + parameters.length + 16L, 8);
        request.set(JAVA_INT, 0, KernelRequest.HEADER_BYTES + parameters.length);
        request.set(JAVA_INT, 4, opcode);
        request.set(JAVA_LONG, 8, UNIQUE);
        request.set(JAVA_LONG, 16, node);
        MemorySegment.copy(parameters, 0, request, JAVA_BYTE, KernelRequest.HEADER_BYTES, parameters.length);
        dispatcher.dispatch(new KernelRequest(request));
    }

    /** The body of the one reply that there is. */
    private ByteBuffer reply(int errno) throws Exception {
        ByteBuffer reply = ByteBuffer.wrap(Files.readAllBytes(kernel)).order(ByteOrder.nativeOrder());
        assertThat(reply.getInt()).as("length").isEqualTo(reply.capacity());
        assertThat(reply.getInt()).as("error").isEqualTo(-errno);
        assertThat(reply.getLong()).as("unique").isEqualTo(UNIQUE);
        return reply.slice().order(ByteOrder.nativeOrder());
    }

    private ByteBuffer answer(Opcode opcode, long node, byte[] parameters) throws Exception {
        send(opcode.number(), node, parameters);
        return reply(0);
    }

    private static void requireAttributesOfFile(ByteBuffer attributes, long node) {
        assertThat(attributes.getLong()).as("inode").isEqualTo(node);
        assertThat(attributes.getLong()).as("size").isEqualTo(BYTES);
        assertThat(attributes.getLong()).as("blocks").isEqualTo(2);
        for (int time = 0; time < 3; time++) {
            assertThat(attributes.getLong()).as("seconds").isEqualTo(-2);
        }
        for (int time = 0; time < 3; time++) {
            assertThat(attributes.getInt()).as("nanoseconds").isEqualTo(500_000_000);
        }
        assertThat(attributes.getInt()).as("mode").isEqualTo(FlatFilesystem.MODE);
        assertThat(attributes.getInt()).as("links").isEqualTo(1);
        assertThat(attributes.getInt()).as("user").isEqualTo(3);
        assertThat(attributes.getInt()).as("group").isEqualTo(4);
        assertThat(attributes.getInt()).as("device").isZero();
        assertThat(attributes.getInt()).as("block size").isEqualTo(131_072);
        assertThat(attributes.getInt()).as("flags").isZero();
    }

    private static void requireEntryOfFile(ByteBuffer entry, long node) {
        assertThat(entry.getLong()).as("node").isEqualTo(node);
        assertThat(entry.getLong()).as("generation").isZero();
        assertThat(entry.getLong()).as("name is valid, seconds").isEqualTo(86_400);
        assertThat(entry.getLong()).as("attributes are valid, seconds").isEqualTo(86_400);
        assertThat(entry.getLong()).as("nanoseconds").isZero();
        requireAttributesOfFile(entry, node);
    }

    @Test
    void failureOfAReadThatCannotBeExplained_isAnsweredAllTheSame() throws Exception {
        FlatFilesystem filesystem = new FlatFilesystem(FILES, BYTES, (_, _, _, _) -> {});
        ErrnoTable failing = new ErrnoTable((_, _, _) -> {
            throw new OutOfMemoryError("for the test");
        });
        new ReadReply(channel, UNIQUE, 1, filesystem, failing).failed(new IOException("any"));
        assertThat(reply(Errno.EIO).remaining()).isZero();
    }

    @Test
    void lookup_isAnsweredWithTheNodeAndItsAttributes_andCounted() throws Exception {
        ByteBuffer entry = answer(Opcode.LOOKUP, NodeFilesystem.ROOT, "file-7\0".getBytes(UTF_8));
        assertThat(entry.remaining()).isEqualTo(128);
        requireEntryOfFile(entry, FlatFilesystem.FIRST + 7);
        assertThat(dispatcher.requests(Operation.GETATTR)).isEqualTo(1);
    }

    @Test
    void nameThatIsNotThere_isNotFound_andNoFailure() throws Exception {
        send(Opcode.LOOKUP.number(), NodeFilesystem.ROOT, "none\0".getBytes(UTF_8));
        assertThat(reply(Errno.ENOENT).remaining()).isZero();
        assertThat(log).isEmpty();
    }

    @Test
    void whatFails_isAnErrno_andOneLineWithTheWholePath() throws Exception {
        send(Opcode.LOOKUP.number(), NodeFilesystem.ROOT, "failing\0".getBytes(UTF_8));
        assertThat(reply(Errno.EACCES).remaining()).isZero();
        assertThat(log).containsExactly("lookup /failing");
    }

    @Test
    void attributes_areValidForADay() throws Exception {
        ByteBuffer reply = answer(Opcode.GETATTR, FlatFilesystem.FIRST + 7, new byte[16]);
        assertThat(reply.remaining()).isEqualTo(104);
        assertThat(reply.getLong()).isEqualTo(86_400);
        assertThat(reply.getLong()).isZero();
        requireAttributesOfFile(reply, FlatFilesystem.FIRST + 7);
    }

    private static byte[] page(long offset, int size) {
        return buffer(40).putLong(0).putLong(offset).putInt(size).array();
    }

    /** Lists the directory in pages of so many bytes. */
    private List<String> list(Opcode opcode, int size) throws Exception {
        List<String> names = new ArrayList<>();
        long offset = 0;
        while (true) {
            forgetReplies();
            ByteBuffer page = answer(opcode, NodeFilesystem.ROOT, page(offset, size));
            if (!page.hasRemaining()) {
                return names;
            }
            assertThat(page.remaining()).isLessThanOrEqualTo(size);
            while (page.hasRemaining()) {
                offset = entry(opcode, false, page, names);
            }
        }
    }

    /** @param used whether the kernel is to be told the attributes, if it asks for them */
    private static long entry(Opcode opcode, boolean used, ByteBuffer page, List<String> names) {
        boolean dots = names.size() < 2;
        if (opcode == Opcode.READDIRPLUS) {
            ByteBuffer entry = page.slice(page.position(), 128).order(ByteOrder.nativeOrder());
            page.position(page.position() + 128);
            if (dots || !used) {
                assertThat(entry.getLong())
                        .as("nothing is told of . and .., nor of what nobody uses")
                        .isZero();
            } else {
                requireEntryOfFile(entry, FlatFilesystem.FIRST + names.size() - 2);
            }
        }
        assertThat(page.getLong()).isEqualTo(dots ? NodeFilesystem.ROOT : FlatFilesystem.FIRST + names.size() - 2);
        long offset = page.getLong();
        byte[] name = new byte[page.getInt()];
        assertThat(page.getInt()).as("type").isEqualTo(dots ? 4 : 8);
        page.get(name);
        page.position((page.position() + 7) / 8 * 8);
        names.add(new String(name, UTF_8));
        return offset;
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 4096, 1 << 20})
    void pagesOfADirectory_haveEachEntryOnceAndInOrder(int size) throws Exception {
        List<String> expected = new ArrayList<>(List.of(".", ".."));
        for (int file = 0; file < FILES; file++) {
            expected.add("file-" + file);
        }
        assertThat(list(Opcode.READDIR, size)).isEqualTo(expected);
        assertThat(list(Opcode.READDIRPLUS, size)).isEqualTo(expected);
    }

    @Test
    void namesThatAreLookedUp_bringAttributesWithTheNextDirectory() throws Exception {
        ByteBuffer before = answer(Opcode.READDIRPLUS, NodeFilesystem.ROOT, page(0, 4096));
        for (int file = 0; file < 3; file++) {
            forgetReplies();
            answer(Opcode.LOOKUP, NodeFilesystem.ROOT, ("file-" + file + "\0").getBytes(UTF_8));
        }
        forgetReplies();
        ByteBuffer after = answer(Opcode.READDIRPLUS, NodeFilesystem.ROOT, page(0, 4096));

        assertThat(after.remaining()).isEqualTo(before.remaining());
        List<String> names = new ArrayList<>();
        while (after.hasRemaining()) {
            entry(Opcode.READDIRPLUS, true, after, names);
        }
        assertThat(names).hasSizeGreaterThan(10);
    }

    @ParameterizedTest
    @EnumSource(names = {"OPEN", "OPENDIR", "FLUSH", "INTERRUPT"})
    void whatTheKernelCanDoWithout_isNotKnown(Opcode opcode) throws Exception {
        send(opcode.number(), FlatFilesystem.FIRST, new byte[64]);
        assertThat(reply(Errno.ENOSYS).remaining()).isZero();
    }

    // Promise K8
    @Test
    void noFileIsATerminal_howeverOftenPythonAsks() throws Exception {
        send(Opcode.IOCTL.number(), FlatFilesystem.FIRST, new byte[32]);
        assertThat(reply(Errno.ENOTTY).remaining()).isZero();
        assertThat(dispatcher.requests(Operation.IOCTL)).isEqualTo(1);
    }

    @Test
    void threadWithoutMemoryForItsFirstReply_failsTheReadAllTheSame() throws Exception {
        ReplyMessage.failInAnyCase(
                () -> {
                    throw new OutOfMemoryError("for the test");
                },
                channel,
                UNIQUE,
                -Errno.EIO);
        assertThat(reply(Errno.EIO).remaining()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {22, 23, 34, 46, 52, 63, 64, 4096, -1})
    void whatNobodyKnows_isSaidToBeUnknown(int opcode) throws Exception {
        send(opcode, FlatFilesystem.FIRST, new byte[64]);
        assertThat(reply(Errno.ENOSYS).remaining()).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "SETATTR",
                "SYMLINK",
                "MKNOD",
                "MKDIR",
                "UNLINK",
                "RMDIR",
                "RENAME",
                "RENAME2",
                "LINK",
                "WRITE",
                "CREATE",
                "TMPFILE",
                "FALLOCATE",
                "SETXATTR",
                "REMOVEXATTR"
            })
    void whatWouldChangeSomething_isRefused(Opcode opcode) throws Exception {
        send(opcode.number(), FlatFilesystem.FIRST, new byte[64]);
        assertThat(reply(Errno.EROFS).remaining()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"FORGET", "BATCH_FORGET"})
    void whatIsForgotten_getsNoReply(Opcode opcode) throws Exception {
        send(opcode.number(), FlatFilesystem.FIRST, new byte[64]);
        assertThat(kernel).isEmptyFile();
    }

    private static byte[] piece(long offset, int size) {
        return buffer(40).putLong(0).putLong(offset).putInt(size).array();
    }

    @Test
    void bytes_areSentFromWhereTheyLie_byWhicheverThread_once() throws Exception {
        MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, "sample".getBytes(UTF_8));
        List<ReadReply> later = new ArrayList<>();
        reads = (file, offset, length, reply) -> {
            assertThat(List.of(file, offset, (long) length)).containsExactly(FlatFilesystem.FIRST, 4096L, 1L << 20);
            later.add(reply);
        };
        send(Opcode.READ.number(), FlatFilesystem.FIRST, piece(4096, 1 << 20));
        assertThat(kernel).isEmptyFile();
        Thread other = Thread.ofPlatform().start(() -> {
            later.getFirst().bytes(bytes);
            later.getFirst().failed(new IllegalStateException("too late"));
            later.getFirst().bytes(bytes);
        });
        other.join();
        ByteBuffer reply = reply(0);
        byte[] read = new byte[reply.remaining()];
        reply.get(read);
        assertThat(read).isEqualTo("sample".getBytes(UTF_8));
        assertThat(log).isEmpty();
    }

    @Test
    void readThatThrows_isAnErrno_andOneLine() throws Exception {
        reads = (_, _, _, _) -> {
            throw new SourceTimeoutException("file-3", 5);
        };
        send(Opcode.READ.number(), FlatFilesystem.FIRST + 3, piece(0, 10));
        assertThat(reply(Errno.EIO).remaining()).isZero();
        assertThat(log).containsExactly("read /file-3");
    }

    @Test
    void linkTarget_comesWithoutATerminatingZero() throws Exception {
        ByteBuffer target = answer(Opcode.READLINK, FlatFilesystem.FIRST, new byte[0]);
        assertThat(UTF_8.decode(target).toString()).isEqualTo("a/b");
    }

    @Test
    void statistics_areOfAFullFilesystem() throws Exception {
        ByteBuffer reply = answer(Opcode.STATFS, NodeFilesystem.ROOT, new byte[0]);
        assertThat(reply.remaining()).isEqualTo(80);
        assertThat(reply.getLong()).as("blocks").isEqualTo(Math.ceilDiv(FILES * (long) BYTES, 4096));
        assertThat(reply.getLong()).as("free").isZero();
        assertThat(reply.getLong()).as("available").isZero();
        assertThat(reply.getLong()).as("entries").isEqualTo(FILES);
        assertThat(reply.getLong()).as("free entries").isZero();
        assertThat(reply.getInt()).as("block size").isEqualTo(4096);
        assertThat(reply.getInt()).as("longest name").isEqualTo(255);
        assertThat(reply.getInt()).as("fragment size").isEqualTo(4096);
    }

    private static byte[] init(int major, int minor, int flags) {
        return buffer(64)
                .putInt(major)
                .putInt(minor)
                .putInt(131_072)
                .putInt(flags)
                .array();
    }

    @Test
    void negotiation_asksForWhatIsWantedAndOffered_andNothingElse() throws Exception {
        int offered = ~Negotiation.PARALLEL_DIROPS;
        ByteBuffer reply = answer(Opcode.INIT, 0, init(7, 44, offered));
        assertThat(reply.remaining()).isEqualTo(64);
        assertThat(reply.getInt()).isEqualTo(7);
        assertThat(reply.getInt()).isEqualTo(31);
        assertThat(reply.getInt()).as("read-ahead").isEqualTo(131_072);
        assertThat(reply.getInt()).isEqualTo(Negotiation.WANTED & ~Negotiation.PARALLEL_DIROPS);
        assertThat(reply.getShort()).as("background").isEqualTo((short) 128);
        assertThat(reply.getShort()).as("congestion").isEqualTo((short) 96);
        assertThat(reply.getInt()).as("largest write").isEqualTo(4096);
        assertThat(reply.getInt()).as("granularity of times").isEqualTo(1);
        assertThat(reply.getShort()).as("pages of a request").isEqualTo((short) 256);
        assertThat(accepted).isCompletedWithValue(new Negotiation(7, 44, 131_072, offered, 0));
    }

    @Test
    void kernelThatIsTooOld_isRefusedInOneLine() throws Exception {
        send(Opcode.INIT.number(), 0, init(7, 30, -1));
        assertThat(reply(Errno.EPROTO).remaining()).isZero();
        assertThatThrownBy(accepted::join)
                .hasMessageContaining("this kernel speaks FUSE 7.30, and 7.31 is needed: Linux 5.4 or newer");
    }

    @Test
    void kernelOfALaterDialect_isToldOurs_andAsksAnew() throws Exception {
        ByteBuffer reply = answer(Opcode.INIT, 0, init(8, 1, -1));
        assertThat(reply.remaining()).isEqualTo(8);
        assertThat(reply.getInt()).isEqualTo(7);
        assertThat(accepted).isNotDone();
    }
}
