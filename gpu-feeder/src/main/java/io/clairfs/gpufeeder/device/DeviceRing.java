package io.clairfs.gpufeeder.device;

import io.clairfs.gpufeeder.ring.RingLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import jcuda.Pointer;
import jcuda.driver.CUevent;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a ring once more, in a device's memory: a batch that is complete in its slot on the host is copied to the slot of the same
 * number on the device, and converted there if that is wanted.
 *
 * <p>One allocation holds all slots, since a handle names a whole allocation. The host's slots are pinned once, one by one,
 * so each copy is one transfer by the device. A batch may be handed out only after {@link #finish} has returned; then the
 * trainer needs no event of ours. Its own kernels may read a slot after its program let go of the batch: it gives the slot back when its event
 * says that they are done.
 *
 * <p>Used by one thread, the one that opened it: a context is current for a thread.
 */
public final class DeviceRing implements AutoCloseable {
    private final RingLayout host;
    private final RingLayout layout;
    private final DeviceStream stream;
    private final DeviceAddress memory;
    private final List<Pointer> hostSlots = new ArrayList<>();
    private final List<CUevent> copied = new ArrayList<>();
    private final @Nullable Converter converter;
    private final byte[] handle;

    private DeviceRing(
            Device device,
            DeviceStream stream,
            RingLayout host,
            IntFunction<MemorySegment> slots,
            @Nullable Conversion conversion,
            long seed)
            throws CudaException {
        this.host = host;
        this.stream = stream;
        layout = conversion == null ? host : conversion.layout(host);
        memory = allocate(stream, device, layout);
        for (int slot = 0; slot < host.slots(); slot++) {
            hostSlots.add(stream.pin(slots.apply(slot)));
            copied.add(stream.event());
        }
        converter = conversion == null
                ? null
                : new Converter(conversion, host, layout, stream, allocate(stream, device, host), seed);
        handle = MemoryHandle.of(memory.value());
    }

    /**
     * Allocates the slots on a device and pins those of the host.
     *
     * @param host where things lie in the host's slots
     * @param slots the host's slots, each of {@link RingLayout#slotBytes}, mapped memory that outlives this ring
     * @param conversion what becomes of a batch on the device, or null
     * @param seed of the conversion's random flips
     * @throws CudaException with the call that failed; nothing is left behind
     */
    public static DeviceRing open(
            Device device,
            RingLayout host,
            IntFunction<MemorySegment> slots,
            @Nullable Conversion conversion,
            long seed)
            throws CudaException {
        DeviceStream stream = DeviceStream.open(device);
        try {
            return new DeviceRing(device, stream, host, slots, conversion, seed);
        } catch (CudaException | RuntimeException e) {
            stream.close();
            throw e;
        }
    }

    private static DeviceAddress allocate(DeviceStream stream, Device device, RingLayout layout) throws CudaException {
        try {
            return stream.allocate(Math.multiplyExact(layout.slotBytes(), layout.slots()));
        } catch (CudaException e) {
            throw new CudaException(device + " has no room for " + layout.slots() + " slots of " + layout.slotBytes()
                    + " bytes: use fewer slots or smaller batches (" + e.getMessage() + ")");
        }
    }

    /** What another process opens the memory of all slots by: 64 bytes. */
    public byte[] handle() {
        return handle.clone();
    }

    /** Where things lie in the device's slots: the first begins where the memory does, its labels where this says, its indices nowhere. */
    public RingLayout layout() {
        return layout;
    }

    /**
     * Begins to bring a slot to the device. Copies are made in the order in which they began; a second one is worth beginning before the first is
     * finished, since the device then goes on without a pause.
     *
     * @param count samples of its batch
     */
    public void begin(int slot, int epoch, int count) throws CudaException {
        if (converter == null) {
            stream.copyFromHost(
                    memory.withByteOffset(slot * layout.slotBytes()), hostSlots.get(slot), layout.slotBytes());
        } else {
            stream.copyFromHost(converter.raw(slot), hostSlots.get(slot), host.slotBytes());
            converter.convert(slot, epoch, count, memory.withByteOffset(slot * layout.slotBytes()));
        }
        stream.record(copied.get(slot));
    }

    /** Returns when what was begun last for a slot is there. */
    public void finish(int slot) throws CudaException {
        DeviceStream.await(copied.get(slot));
    }

    /** Frees the memory. A trainer that still has it open must not read it any more. */
    @Override
    public void close() {
        stream.close();
    }
}
