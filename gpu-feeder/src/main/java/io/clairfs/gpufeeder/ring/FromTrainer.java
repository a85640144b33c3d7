package io.clairfs.gpufeeder.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * What the trainer says to the feeder. Each is one message of {@value #BYTES} bytes, little-endian: kind and slot (32 bits), turn, epoch, step, nanoseconds
 * (64 bits).
 */
public sealed interface FromTrainer {
    int BYTES = 40;

    /**
     * The trainer wants this batch next, and then those that follow it. What it is sent with an earlier turn it gives back unread.
     *
     * @param epoch negative for where the job begins
     */
    record Seek(long turn, int epoch, int step) implements FromTrainer {}

    /** The slot is free. The trainer waited so long for its batch. */
    record Free(int slot, long waitedNs) implements FromTrainer {}

    /** Reads a message. */
    static FromTrainer read(MemorySegment message) throws IOException {
        if (message.byteSize() != BYTES) {
            throw new IOException("the trainer sent " + message.byteSize() + " bytes in place of " + BYTES
                    + ": its clairfs_feed.py is of another version; take that of the mount's .clairfs/python");
        }
        int kind = message.get(JAVA_INT_UNALIGNED, 0);
        return switch (kind) {
            case 1 ->
                new Seek(
                        message.get(JAVA_LONG_UNALIGNED, 8),
                        number("epoch", message.get(JAVA_LONG_UNALIGNED, 16)),
                        number("step", message.get(JAVA_LONG_UNALIGNED, 24)));
            case 2 -> new Free(message.get(JAVA_INT_UNALIGNED, 4), message.get(JAVA_LONG_UNALIGNED, 32));
            default -> throw new IOException("the trainer sent a message of kind " + kind);
        };
    }

    private static int number(String what, long value) throws IOException {
        if (value != (int) value) {
            throw new IOException(
                    "the trainer wants " + what + " " + value + ": there are " + Integer.MAX_VALUE + " at most");
        }
        return (int) value;
    }
}
