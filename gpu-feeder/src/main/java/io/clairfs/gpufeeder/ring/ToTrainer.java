package io.clairfs.gpufeeder.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;

/**
 * What the feeder says to the trainer. Each is one message of {@value #BYTES} bytes, little-endian: kind and slot (32 bits), turn, epoch, step, count,
 * steps (64 bits); then a text.
 */
public sealed interface ToTrainer {
    int BYTES = 48;

    /** The longest text; a longer one is cut. */
    int TEXT_BYTES = 4096;

    /** The ring: its descriptor comes with the message. */
    record Hello(long ringBytes) implements ToTrainer {}

    /** An epoch begins, or goes on where the trainer asked for it; it has {@code steps} batches in all. */
    record Epoch(long turn, int epoch, int steps) implements ToTrainer {}

    /** The slot has a batch. The trainer gives it back. */
    record Batch(int slot, long turn, int epoch, int step, int count) implements ToTrainer {}

    /** There is no batch for this step, because of what the text says. The trainer gives the slot back, which comes as the number of the next one. */
    record BadBatch(int slot, long turn, int epoch, int step, String text) implements ToTrainer {}

    /** The job has no such epoch: {@code epoch} is the number of its epochs. */
    record Done(long turn, int epoch) implements ToTrainer {}

    /** The feeder ends, because of what the text says. */
    record Failed(String text) implements ToTrainer {}

    /** Writes the message. Returns its bytes. */
    default int write(MemorySegment into) {
        return switch (this) {
            case Hello(long bytes) -> write(into, 1, 0, 0, 0, 0, bytes, 0, "");
            case Epoch(long turn, int epoch, int steps) -> write(into, 2, 0, turn, epoch, 0, 0, steps, "");
            case Batch(int slot, long turn, int epoch, int step, int count) ->
                write(into, 3, slot, turn, epoch, step, count, 0, "");
            case BadBatch(int slot, long turn, int epoch, int step, String text) ->
                write(into, 4, slot + 1, turn, epoch, step, 0, 0, text);
            case Done(long turn, int epoch) -> write(into, 5, 0, turn, epoch, 0, 0, 0, "");
            case Failed(String text) -> write(into, 6, 0, 0, 0, 0, 0, 0, text);
        };
    }

    private static int write(
            MemorySegment into,
            int kind,
            int slot,
            long turn,
            long epoch,
            long step,
            long count,
            long steps,
            String said) {
        byte[] text = said.getBytes(UTF_8);
        int length = Math.min(text.length, TEXT_BYTES);
        into.set(JAVA_INT_UNALIGNED, 0, kind);
        into.set(JAVA_INT_UNALIGNED, 4, slot);
        into.set(JAVA_LONG_UNALIGNED, 8, turn);
        into.set(JAVA_LONG_UNALIGNED, 16, epoch);
        into.set(JAVA_LONG_UNALIGNED, 24, step);
        into.set(JAVA_LONG_UNALIGNED, 32, count);
        into.set(JAVA_LONG_UNALIGNED, 40, steps);
        MemorySegment.copy(text, 0, into, JAVA_BYTE, BYTES, length);
        return BYTES + length;
    }
}
