package io.clairfs.gpufeeder.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.gpufeeder.decode.SampleFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * The feeder's side of a ring. It writes into slots that are free; which these are, the messages of a {@link TrainerConnection} say. Sending a message
 * orders the writes before it.
 */
public final class BatchRing implements AutoCloseable {
    private static final byte[] MAGIC = "CLAIRFED".getBytes(UTF_8);
    private static final int VERSION = 1;
    private static final long ORIGIN = 104;
    private static final long EXTENTS = 128;
    private static final long DEVICE = 256;
    private static final int NOTE_BYTES = 1024;
    private static final long NOTE = RingLayout.FIGURES + RingLayout.PAGE - NOTE_BYTES;

    /** The figures that a trainer can read at any time, in the order in which they lie in the ring. */
    public enum Figure {
        SAMPLES,
        BYTES,
        LOAD_NS,
        DECODE_NS,
        BATCHES,
        READY,
        ERRORS,
        THREADS,
        WAITED_NS,
        COPIED_BYTES,
        COPY_NS
    }

    private final RingLayout layout;
    private final SharedMemory memory;
    private final MemorySegment content;

    private BatchRing(RingLayout layout, SharedMemory memory) {
        this.layout = layout;
        this.memory = memory;
        content = memory.content();
    }

    /**
     * Makes a ring and describes it in its header.
     *
     * @param epochs of the job; negative when they have no end
     */
    public static BatchRing make(RingLayout layout, int firstEpoch, int firstStep, int epochs) throws IOException {
        BatchRing ring = new BatchRing(layout, SharedMemory.make("clairfs-feed", layout.bytes()));
        ring.describe(firstEpoch, firstStep, epochs);
        return ring;
    }

    private void describe(int firstEpoch, int firstStep, int epochs) {
        MemorySegment.copy(MAGIC, 0, content, JAVA_BYTE, 0, MAGIC.length);
        content.set(JAVA_INT, 8, VERSION);
        content.set(JAVA_INT, 12, layout.slots());
        content.set(JAVA_LONG, 16, layout.slotBytes());
        content.set(JAVA_LONG, 24, RingLayout.FIRST_SLOT);
        content.set(JAVA_LONG, 32, layout.format().bytes());
        content.set(JAVA_LONG, 40, layout.labels());
        content.set(JAVA_LONG, 48, layout.indices());
        content.set(JAVA_INT, 56, layout.batch());
        describe(layout.format(), 64, 60, EXTENTS);
        content.set(JAVA_LONG, 72, firstEpoch);
        content.set(JAVA_LONG, 80, firstStep);
        content.set(JAVA_LONG, 88, epochs);
        content.set(JAVA_LONG, 96, ProcessHandle.current().pid());
    }

    /**
     * Says whose batches these are. A trainer whose feeder was killed goes on with the next one only where that says the same. Zero, as in the rings of
     * older feeders, says nothing.
     *
     * @param job a digest of the job
     * @param options a digest of what was asked of the feeder
     */
    public void describeOrigin(long job, long options) {
        content.set(JAVA_LONG, ORIGIN, job);
        content.set(JAVA_LONG, ORIGIN + Long.BYTES, options);
    }

    /**
     * Says that each batch is on a device as well, in the slot of the same number.
     *
     * @param device what all processes of the machine call it
     * @param handle what another process opens the memory of all slots by: 64 bytes
     * @param onDevice where things lie in a slot there, the first of which begins where the memory does; indices are on the host alone
     */
    public void describeDevice(UUID device, byte[] handle, RingLayout onDevice) {
        byte[] identity = new byte[2 * Long.BYTES];
        ByteBuffer.wrap(identity).putLong(device.getMostSignificantBits()).putLong(device.getLeastSignificantBits());
        content.set(JAVA_LONG, DEVICE, onDevice.slotBytes());
        MemorySegment.copy(identity, 0, content, JAVA_BYTE, DEVICE + 8, identity.length);
        MemorySegment.copy(handle, 0, content, JAVA_BYTE, DEVICE + 24, handle.length);
        content.set(JAVA_LONG, DEVICE + 88, onDevice.labels());
        describe(onDevice.format(), DEVICE + 96, DEVICE + 104, DEVICE + 112);
    }

    private void describe(SampleFormat format, long typestr, long dimensions, long extents) {
        List<Integer> shape = format.shape();
        byte[] type = format.type().typestr().getBytes(UTF_8);
        MemorySegment.copy(Arrays.copyOf(type, 8), 0, content, JAVA_BYTE, typestr, 8);
        content.set(JAVA_INT, dimensions, shape.size());
        for (int at = 0; at < shape.size(); at++) {
            content.set(JAVA_LONG, extents + (long) at * Long.BYTES, shape.get(at));
        }
    }

    /** A whole slot: what a device copies. */
    public MemorySegment slot(int slot) {
        return content.asSlice(layout.slot(slot), layout.slotBytes());
    }

    public RingLayout layout() {
        return layout;
    }

    /** The place of a sample in the batch of a slot. */
    public MemorySegment sample(int slot, int at) {
        long bytes = layout.format().bytes();
        return content.asSlice(layout.slot(slot) + at * bytes, bytes);
    }

    /** Writes what belongs to the sample at a place of a slot. */
    public void describe(int slot, int at, long label, long index) {
        long place = layout.slot(slot) + (long) at * Long.BYTES;
        content.set(JAVA_LONG, place + layout.labels(), label);
        content.set(JAVA_LONG, place + layout.indices(), index);
    }

    public void publish(Figure figure, long value) {
        content.set(JAVA_LONG, RingLayout.FIGURES + (long) figure.ordinal() * Long.BYTES, value);
    }

    /** Says what the feeder waits for, for a trainer that asks why nothing comes. Empty: for nothing. */
    public void publish(String note) {
        byte[] text = Arrays.copyOf(note.getBytes(UTF_8), NOTE_BYTES); // with a zero at its end
        text[NOTE_BYTES - 1] = 0;
        MemorySegment.copy(text, 0, content, JAVA_BYTE, NOTE, NOTE_BYTES);
    }

    int descriptor() {
        return memory.descriptor();
    }

    /** All threads that write into it must have ended. */
    @Override
    public void close() {
        memory.close();
    }
}
