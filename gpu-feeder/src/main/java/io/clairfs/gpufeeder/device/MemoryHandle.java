package io.clairfs.gpufeeder.device;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Asks the driver itself for the handle of an allocation, since jcuda keeps a handle's bytes to itself. */
final class MemoryHandle {
    /** CU_IPC_HANDLE_SIZE of CUDA's driver interface. */
    static final int BYTES = 64;

    private MemoryHandle() {}

    /**
     * What another process opens the memory by.
     *
     * @param address the begin of an allocation of {@code cuMemAlloc}; a handle always names the whole of it
     * @return 64 bytes
     */
    @SuppressWarnings("restricted")
    static byte[] of(long address) throws CudaException {
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle call = Linker.nativeLinker()
                    .downcallHandle(
                            SymbolLookup.libraryLookup(CudaDriver.LIBRARY, arena)
                                    .findOrThrow("cuIpcGetMemHandle"),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
            MemorySegment handle = arena.allocate(BYTES);
            CudaDriver.check((int) call.invokeExact(handle, address), "cuIpcGetMemHandle");
            return handle.toArray(ValueLayout.JAVA_BYTE);
        } catch (CudaException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("native call", e);
        }
    }
}
