package io.clairfs.gpufeeder.ring;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.cache.posix.Readiness;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The connection to one trainer. One thread receives; any thread may send, one at a time.
 *
 * <p>The trainer is gone when the socket ends or its process does. The process is watched as well because children that it forked keep the socket open.
 */
public final class TrainerConnection implements AutoCloseable {
    private static final int NONE = -1;
    private static final int EPIPE = 32;
    private static final int ECONNRESET = 104;

    private final int socket;
    private final int process;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment incoming = arena.allocate(4096, 8);
    private final MemorySegment outgoing = arena.allocate(ToTrainer.BYTES + ToTrainer.TEXT_BYTES, 8);

    private TrainerConnection(int socket, int process) {
        this.socket = socket;
        this.process = process;
    }

    /**
     * Takes over a connected socket.
     *
     * @throws IOException when another user is at the other end
     */
    public static TrainerConnection of(int socket) throws IOException {
        LocalSocket.Peer peer;
        try {
            peer = LocalSocket.peer(socket);
        } catch (PosixException e) {
            throw new IOException("descriptor " + socket + " is no connected socket: " + e.getMessage(), e);
        }
        if (peer.uid() != ProcessIdentity.userId() && peer.uid() != 0) {
            Posix.close(socket);
            throw new IOException("user " + peer.uid() + " wants the batches of user " + ProcessIdentity.userId()
                    + ": run feeder and trainer as the same user");
        }
        return new TrainerConnection(socket, watched(peer.pid()));
    }

    /** Without {@code pidfd_open} (kernels before 5.3), or in another PID namespace, the end of the socket alone counts. */
    private static int watched(int pid) {
        try {
            return pid == 0 ? NONE : LocalSocket.processDescriptor(pid);
        } catch (PosixException e) {
            return NONE;
        }
    }

    /** Sends a message. To a trainer that is gone it does nothing: {@link #receive} says so. */
    public void send(ToTrainer message) throws IOException {
        send(message, NONE);
    }

    /** Sends the ring itself. */
    public void send(BatchRing ring) throws IOException {
        send(new ToTrainer.Hello(ring.layout().bytes()), ring.descriptor());
    }

    private synchronized void send(ToTrainer message, int descriptor) throws IOException {
        try {
            LocalSocket.send(socket, outgoing.asSlice(0, message.write(outgoing)), descriptor);
        } catch (PosixException e) {
            if (e.errno() != EPIPE && e.errno() != ECONNRESET) {
                throw e;
            }
        }
    }

    /** Waits for the trainer's next message. Returns null when the trainer is gone. */
    public @Nullable FromTrainer receive() throws IOException {
        while (true) {
            if (process == NONE) {
                boolean _ = Readiness.await(Readiness.FOREVER, socket);
            } else {
                boolean _ = Readiness.await(Readiness.FOREVER, socket, process);
                if (Readiness.isReady(process)) {
                    return null;
                }
            }
            if (!Readiness.isReady(socket)) {
                continue;
            }
            long bytes = MessageIo.read(socket, incoming);
            if (bytes == 0 || bytes == -ECONNRESET) {
                return null;
            }
            if (bytes > 0) {
                return FromTrainer.read(incoming.asSlice(0, bytes));
            }
            if (bytes != -Errno.EINTR) {
                throw new PosixException("receive from the trainer", (int) -bytes);
            }
        }
    }

    /** Both directions end. No other thread may still send or receive. */
    @Override
    public synchronized void close() {
        Posix.close(socket);
        if (process != NONE) {
            Posix.close(process);
        }
        arena.close();
    }
}
