package io.clairfs.gpufeeder.device;

import static io.clairfs.gpufeeder.device.CudaDriver.check;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * The slots of a ring once more, in a device's memory: a batch that is complete in its slot on the host is copied to the slot of the same
 * number on the device.
 *
 * <p>One allocation holds all slots, since a handle names a whole allocation. The host's slots are pinned once, one by one (a registration takes
 * at most 2 GiB), so each copy is one transfer by the device. A batch may be handed out only after {@link #finish} has returned; then the
 * trainer needs no event of ours. Its own kernels may read a slot after its program let go of the batch: it gives the slot back when its event
 * says that they are done.
 *
 * <p>Used by one thread, the one that opened it: a context is current for a thread.
 */
public final class DeviceRing implements AutoCloseable {
    private final Device device;
    private final CUdevice handleOfDevice = new CUdevice();
    private final CUstream stream = new CUstream();
    private final DeviceAddress memory = new DeviceAddress();
    private final List<MemorySegment> hostSlots;
    private final List<Pointer> pinned = new ArrayList<>();
    private final List<CUevent> copied = new ArrayList<>();
    private final long slotBytes;
    private final byte[] handle;
    private boolean hasContext;
    private boolean hasStream;
    private boolean hasMemory;

    private DeviceRing(Device device, List<MemorySegment> hostSlots) throws CudaException {
        this.device = device;
        this.hostSlots = List.copyOf(hostSlots);
        slotBytes = hostSlots.getFirst().byteSize();
        try {
            enterContext();
            check(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING), "cuStreamCreate");
            hasStream = true;
            allocate();
            pin();
            makeEvents();
            handle = MemoryHandle.of(memory.value());
        } catch (CudaException e) {
            release();
            throw e;
        }
    }

    /**
     * Allocates the slots on a device and pins those of the host.
     *
     * @param hostSlots the host's slots in their order, all of one size (bytes), mapped memory that outlives this ring
     * @throws CudaException with the call that failed; nothing is left behind
     */
    public static DeviceRing open(Device device, List<MemorySegment> hostSlots) throws CudaException {
        if (hostSlots.isEmpty()) {
            throw new IllegalArgumentException("a ring without slots");
        }
        CudaDriver.load();
        return new DeviceRing(device, hostSlots);
    }

    public Device device() {
        return device;
    }

    /** What another process opens the memory of all slots by: 64 bytes. */
    public byte[] handle() {
        return handle.clone();
    }

    /** From the begin of one slot on the device to that of the next, bytes. */
    public long slotBytes() {
        return slotBytes;
    }

    /**
     * Begins to copy the first bytes of a slot to the device. Copies are made in the order in which they began; a second one is worth beginning before the
     * first is finished, since the device then goes on without a pause.
     *
     * @param bytes how many; at most {@link #slotBytes}
     */
    public void begin(int slot, long bytes) throws CudaException {
        if (bytes <= 0 || bytes > slotBytes) {
            throw new IllegalArgumentException(bytes + " bytes into a slot of " + slotBytes);
        }
        check(
                JCudaDriver.cuMemcpyHtoDAsync(memory.withByteOffset(slot * slotBytes), pinned.get(slot), bytes, stream),
                "cuMemcpyHtoDAsync");
        check(JCudaDriver.cuEventRecord(copied.get(slot), stream), "cuEventRecord");
    }

    /** Returns when the copy that was begun last for a slot is there. */
    public void finish(int slot) throws CudaException {
        check(JCudaDriver.cuEventSynchronize(copied.get(slot)), "cuEventSynchronize");
    }

    /** Frees the memory. A trainer that still has it open must not read it any more. */
    @Override
    public void close() {
        release();
    }

    private void enterContext() throws CudaException {
        check(JCudaDriver.cuDeviceGet(handleOfDevice, device.ordinal()), "cuDeviceGet");
        CUcontext context = new CUcontext();
        check(JCudaDriver.cuDevicePrimaryCtxRetain(context, handleOfDevice), "cuDevicePrimaryCtxRetain");
        hasContext = true;
        check(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    }

    private void allocate() throws CudaException {
        long bytes = Math.multiplyExact(slotBytes, hostSlots.size());
        int result = JCudaDriver.cuMemAlloc(memory, bytes);
        if (result != 0) {
            throw new CudaException(device + " has no room for " + hostSlots.size() + " slots of " + slotBytes
                    + " bytes: use fewer slots or smaller batches (cuMemAlloc " + result + ")");
        }
        hasMemory = true;
    }

    private void pin() throws CudaException {
        for (MemorySegment slot : hostSlots) {
            Pointer pointer = pointer(slot);
            check(JCudaDriver.cuMemHostRegister(pointer, slotBytes, 0), "cuMemHostRegister");
            pinned.add(pointer);
        }
    }

    private static Pointer pointer(MemorySegment slot) {
        return Pointer.to(slot.asByteBuffer());
    }

    /** One for each slot. Who waits for it sleeps: the processor is for those who decode. */
    private void makeEvents() throws CudaException {
        for (int slot = 0; slot < hostSlots.size(); slot++) {
            CUevent event = new CUevent();
            check(
                    JCudaDriver.cuEventCreate(
                            event, CUevent_flags.CU_EVENT_BLOCKING_SYNC | CUevent_flags.CU_EVENT_DISABLE_TIMING),
                    "cuEventCreate");
            copied.add(event);
        }
    }

    /** In the reverse order; a failure here has nobody who could do better. */
    private void release() {
        copied.forEach(JCudaDriver::cuEventDestroy);
        copied.clear();
        pinned.forEach(JCudaDriver::cuMemHostUnregister);
        pinned.clear();
        if (hasMemory) {
            JCudaDriver.cuMemFree(memory);
            hasMemory = false;
        }
        if (hasStream) {
            JCudaDriver.cuStreamDestroy(stream);
            hasStream = false;
        }
        if (hasContext) {
            JCudaDriver.cuDevicePrimaryCtxRelease(handleOfDevice);
            hasContext = false;
        }
    }
}
