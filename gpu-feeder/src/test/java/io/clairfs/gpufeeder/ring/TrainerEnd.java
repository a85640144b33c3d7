package io.clairfs.gpufeeder.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The trainer's end of a connection, in the test's process. */
public final class TrainerEnd implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment incoming = arena.allocate(ToTrainer.BYTES + ToTrainer.TEXT_BYTES, 8);
    private final int socket;
    private final TrainerConnection feeder;
    private boolean closed;

    public TrainerEnd() throws IOException {
        int[] pair = LocalSocket.pair();
        socket = pair[0];
        feeder = TrainerConnection.of(pair[1]);
    }

    /** The other end. */
    public TrainerConnection feeder() {
        return feeder;
    }

    /** The next message; waits for it. */
    public ToTrainer receive() throws IOException {
        long bytes = MessageIo.read(socket, incoming);
        if (bytes < ToTrainer.BYTES) {
            throw new PosixException("receive " + bytes, (int) Math.max(0, -bytes));
        }
        int slot = incoming.get(JAVA_INT, 4);
        long turn = incoming.get(JAVA_LONG, 8);
        int epoch = (int) incoming.get(JAVA_LONG, 16);
        int step = (int) incoming.get(JAVA_LONG, 24);
        long count = incoming.get(JAVA_LONG, 32);
        int steps = (int) incoming.get(JAVA_LONG, 40);
        byte[] text = incoming.asSlice(ToTrainer.BYTES, bytes - ToTrainer.BYTES).toArray(JAVA_BYTE);
        int kind = incoming.get(JAVA_INT, 0);
        return switch (kind) {
            case 1 -> new ToTrainer.Hello(count);
            case 2 -> new ToTrainer.Epoch(turn, epoch, steps);
            case 3 -> new ToTrainer.Batch(slot, turn, epoch, step, (int) count);
            case 4 -> new ToTrainer.BadBatch(slot - 1, turn, epoch, step, new String(text, UTF_8));
            case 5 -> new ToTrainer.Done(turn, epoch);
            case 6 -> new ToTrainer.Failed(new String(text, UTF_8));
            default -> throw new IOException("kind " + kind);
        };
    }

    /** A figure of a ring, as a trainer sees it now. */
    public static long figure(BatchRing ring, BatchRing.Figure figure) throws IOException {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment value = own.allocate(JAVA_LONG);
            long _ = Posix.pread(ring.descriptor(), value, RingLayout.FIGURES + (long) figure.ordinal() * Long.BYTES);
            return value.get(JAVA_LONG, 0);
        }
    }

    public void seek(long turn, long epoch, long step) throws IOException {
        send(1, 0, turn, epoch, step, 0);
    }

    public void free(int slot, long waitedNs) throws IOException {
        send(2, slot, 0, 0, 0, waitedNs);
    }

    private void send(int kind, int slot, long turn, long epoch, long step, long ns) throws IOException {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment message = own.allocate(FromTrainer.BYTES, 8);
            message.set(JAVA_INT, 0, kind);
            message.set(JAVA_INT, 4, slot);
            message.set(JAVA_LONG, 8, turn);
            message.set(JAVA_LONG, 16, epoch);
            message.set(JAVA_LONG, 24, step);
            message.set(JAVA_LONG, 32, ns);
            LocalSocket.send(socket, message, -1);
        }
    }

    /** The trainer ends. */
    public void end() {
        if (!closed) {
            closed = true;
            Posix.close(socket);
        }
    }

    @Override
    public void close() {
        end();
        feeder.close();
        arena.close();
    }
}
