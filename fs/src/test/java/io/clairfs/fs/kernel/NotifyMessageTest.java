package io.clairfs.fs.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of a message, as include/uapi/linux/fuse.h has them. A file stands for the kernel. */
class NotifyMessageTest {
    private static final int WRITE_ONLY = 1;
    private static final long NODE = 0x1122334455667788L;

    @TempDir
    private Path directory;

    /** What is sent to a session. */
    @FunctionalInterface
    private interface Sending {
        int to(int session);
    }

    private ByteBuffer sent(Sending sending) throws Exception {
        Path file = Files.createFile(directory.resolve("session"));
        int session = Posix.openAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), WRITE_ONLY);
        try {
            assertThat(sending.to(session)).isZero();
        } finally {
            Posix.close(session);
        }
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
    }

    @Test
    void store_isHeader_parameters_andTheBytesWhereTheyLie() throws Exception {
        byte[] content = "pages".getBytes(UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, content);
            ByteBuffer message =
                    sent(session -> new NotifyMessage().store(session, NODE, 8192, bytes.address(), content.length));
            assertThat(message.remaining()).isEqualTo(16 + 24 + content.length);
            assertThat(message.getInt()).as("length").isEqualTo(16 + 24 + content.length);
            assertThat(message.getInt()).as("FUSE_NOTIFY_STORE").isEqualTo(4);
            assertThat(message.getLong()).as("an answer to no request").isZero();
            assertThat(message.getLong()).as("node").isEqualTo(NODE);
            assertThat(message.getLong()).as("offset").isEqualTo(8192);
            assertThat(message.getInt()).as("size").isEqualTo(content.length);
            assertThat(message.getInt()).as("padding").isZero();
            byte[] rest = new byte[content.length];
            message.get(rest);
            assertThat(rest).isEqualTo(content);
        }
    }

    @Test
    void invalidate_isOfTheWholeFile_alsoAfterAStore() throws Exception {
        ByteBuffer message;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(100);
            NotifyMessage reused = new NotifyMessage();
            ByteBuffer both = sent(session -> {
                assertThat(reused.store(session, 7, 4096, bytes.address(), 100)).isZero();
                return reused.invalidate(session, NODE);
            });
            message = both.position(16 + 24 + 100).slice().order(ByteOrder.nativeOrder());
        }
        assertThat(message.remaining()).isEqualTo(16 + 24);
        assertThat(message.getInt()).as("length").isEqualTo(16 + 24);
        assertThat(message.getInt()).as("FUSE_NOTIFY_INVAL_INODE").isEqualTo(2);
        assertThat(message.getLong()).isZero();
        assertThat(message.getLong()).as("node").isEqualTo(NODE);
        assertThat(message.getLong()).as("from").isZero();
        assertThat(message.getLong()).as("to the end").isZero();
    }

    @Test
    void sessionThatIsGone_isAnErrno() {
        assertThat(new NotifyMessage().invalidate(-1, NODE)).isEqualTo(-Errno.EBADF);
    }
}
