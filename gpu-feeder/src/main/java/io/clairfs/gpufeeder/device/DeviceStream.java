package io.clairfs.gpufeeder.device;

import static io.clairfs.gpufeeder.device.CudaDriver.check;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * One stream of a device, and what is allocated for it: closing it frees all of that. The device's primary context is used, which is current for the
 * thread that opened this; no other may call.
 */
final class DeviceStream implements AutoCloseable {
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final int ENOUGH_PROCESSORS = 8;
    private static final long LONGEST_ASKING_NS = TimeUnit.MILLISECONDS.toNanos(3);

    private final CUdevice device = new CUdevice();
    private final CUstream stream = new CUstream();
    private final Deque<Runnable> releases = new ArrayDeque<>();

    private DeviceStream() {}

    static DeviceStream open(Device device) throws CudaException {
        CudaDriver.load();
        DeviceStream opened = new DeviceStream();
        try {
            opened.enter(device);
            return opened;
        } catch (CudaException e) {
            opened.close();
            throw e;
        }
    }

    private void enter(Device wanted) throws CudaException {
        check(JCudaDriver.cuDeviceGet(device, wanted.ordinal()), "cuDeviceGet");
        CUcontext context = new CUcontext();
        check(JCudaDriver.cuDevicePrimaryCtxRetain(context, device), "cuDevicePrimaryCtxRetain");
        releases.push(() -> JCudaDriver.cuDevicePrimaryCtxRelease(device));
        check(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
        check(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        releases.push(() -> JCudaDriver.cuStreamDestroy(stream));
    }

    DeviceAddress allocate(long bytes) throws CudaException {
        DeviceAddress memory = new DeviceAddress();
        check(JCudaDriver.cuMemAlloc(memory, bytes), "cuMemAlloc");
        releases.push(() -> JCudaDriver.cuMemFree(memory));
        return memory;
    }

    /** Pins memory of the host, so that the device copies from it by itself. Begins and ends at pages. */
    Pointer pin(MemorySegment memory) throws CudaException {
        long inBuffer =
                Math.min(memory.byteSize(), Integer.MAX_VALUE); // a buffer holds no more, and tells the address alone
        Pointer pointer = Pointer.to(memory.asSlice(0, inBuffer).asByteBuffer());
        check(JCudaDriver.cuMemHostRegister(pointer, memory.byteSize(), 0), "cuMemHostRegister");
        releases.push(() -> JCudaDriver.cuMemHostUnregister(pointer));
        return pointer;
    }

    CUevent event() throws CudaException {
        CUevent event = new CUevent();
        int flags = CUevent_flags.CU_EVENT_BLOCKING_SYNC | CUevent_flags.CU_EVENT_DISABLE_TIMING;
        check(JCudaDriver.cuEventCreate(event, flags), "cuEventCreate");
        releases.push(() -> JCudaDriver.cuEventDestroy(event));
        return event;
    }

    /** A kernel of a program, which is the text of PTX with a zero at its end. */
    CUfunction kernel(byte[] program, String name) throws CudaException {
        CUmodule module = new CUmodule();
        check(JCudaDriver.cuModuleLoadData(module, program), "cuModuleLoadData");
        releases.push(() -> JCudaDriver.cuModuleUnload(module));
        CUfunction kernel = new CUfunction();
        check(JCudaDriver.cuModuleGetFunction(kernel, module, name), "cuModuleGetFunction");
        return kernel;
    }

    void copyFromHost(CUdeviceptr to, Pointer from, long bytes) throws CudaException {
        check(JCudaDriver.cuMemcpyHtoDAsync(to, from, bytes, stream), "cuMemcpyHtoDAsync");
    }

    void copy(CUdeviceptr to, CUdeviceptr from, long bytes) throws CudaException {
        check(JCudaDriver.cuMemcpyDtoDAsync(to, from, bytes, stream), "cuMemcpyDtoDAsync");
    }

    /** One thread of a kernel for each {@code x} and {@code y}; its threads come in blocks of {@code block} along x. */
    void launch(CUfunction kernel, int x, int y, int block, Pointer arguments) throws CudaException {
        check(
                JCudaDriver.cuLaunchKernel(
                        kernel, Math.ceilDiv(x, block), y, 1, block, 1, 1, 0, stream, arguments, null),
                "cuLaunchKernel");
    }

    void record(CUevent event) throws CudaException {
        check(JCudaDriver.cuEventRecord(event, stream), "cuEventRecord");
    }

    /**
     * Waits for an event. To be woken by the device takes some 0.1 ms, a third of the time of a small batch, so where there are processors enough the wait
     * begins by asking again and again.
     */
    static void await(CUevent event) throws CudaException {
        if (PROCESSORS >= ENOUGH_PROCESSORS) {
            long end = System.nanoTime() + LONGEST_ASKING_NS;
            while (System.nanoTime() < end) {
                int result = JCudaDriver.cuEventQuery(event);
                if (result != CUresult.CUDA_ERROR_NOT_READY) {
                    check(result, "cuEventQuery");
                    return;
                }
                Thread.onSpinWait();
            }
        }
        check(JCudaDriver.cuEventSynchronize(event), "cuEventSynchronize");
    }

    /** In the reverse order; a failure here has nobody who could do better. */
    @Override
    public void close() {
        while (!releases.isEmpty()) {
            releases.pop().run();
        }
    }
}
