package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.SharedDescriptor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * Has the kernel send once more what a process took and did not answer before it died: FUSE_NOTIFY_RESEND, Linux 6.9.
 *
 * <p>A thread that was killed may take one more request while the others of its process are gone, and a process may be unable to end until a request
 * is answered. So the kernel is asked at once, now and then while there are threads of that process, and once they are gone. A request that this process is just
 * answering then comes twice; the kernel ignores the second answer.
 */
final class UnansweredRequests {
    private static final Logger LOG = System.getLogger(UnansweredRequests.class.getName());

    // Linux, include/uapi/linux/fuse.h
    private static final int NOTIFY_RESEND = 7;
    private static final int HEADER_BYTES = 16;

    private static final int LOOKS = 1_000;
    private static final int LOOKS_BEFORE_REPEATED = 100;
    private static final long PAUSE_MS = 10;

    private UnansweredRequests() {}

    /** Asks at once, and goes on as long as needed, ten seconds at most, on a thread of its own. */
    static void begin(SharedDescriptor channel, long predecessor) {
        resend(channel);
        Thread.ofPlatform().daemon().name("resend").start(() -> {
            try {
                for (int look = 1; look <= LOOKS && ProcessThreads.of(predecessor) > 0; look++) {
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
                    if (look % LOOKS_BEFORE_REPEATED == 0) {
                        resend(channel);
                    }
                }
                resend(channel);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static void resend(SharedDescriptor channel) {
        if (!channel.enter()) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HEADER_BYTES, Long.BYTES);
            message.set(JAVA_INT, 0, HEADER_BYTES);
            message.set(JAVA_INT, 4, NOTIFY_RESEND);
            message.set(JAVA_LONG, 8, 0);
            MemorySegment piece = arena.allocate(MessageIo.IOVEC_BYTES, Long.BYTES);
            MessageIo.piece(piece, 0, message.address(), HEADER_BYTES);
            int rc = MessageIo.writev(channel.number(), piece, 1);
            if (rc != 0) {
                LOG.log(Level.WARNING, "the kernel does not repeat unanswered requests (errno " + -rc + ")");
            }
        } finally {
            channel.leave();
        }
    }
}
