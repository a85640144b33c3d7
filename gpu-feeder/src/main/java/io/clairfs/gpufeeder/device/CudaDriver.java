package io.clairfs.gpufeeder.device;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import jcuda.LogLevel;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/** The driver's library, loaded once per process. Each call's result is checked here. */
final class CudaDriver {
    static final String LIBRARY = "libcuda.so.1";

    private static final int NAME_BYTES = 256;

    private static @Nullable CudaDriver loaded;
    private static @Nullable String failure;

    private CudaDriver() {}

    /**
     * A library that could not be loaded once is not tried again: the JVM remembers the failed class.
     *
     * @throws CudaException where the driver is not there, is too old, or finds no device
     */
    static synchronized CudaDriver load() throws CudaException {
        if (loaded == null && failure == null) {
            try (NativeDirectory _ = NativeDirectory.open()) {
                JCudaDriver.setLogLevel(LogLevel.LOG_QUIET);
                JCudaDriver.setExceptionsEnabled(false);
                check(JCudaDriver.cuInit(0), "cuInit");
                loaded = new CudaDriver();
            } catch (UncheckedIOException e) {
                failure = "jcuda's library cannot be unpacked: " + e.getMessage();
            } catch (LinkageError e) {
                failure = "the NVIDIA driver cannot be used: " + firstLine(e);
            } catch (CudaException e) {
                failure = e.getMessage();
            }
        }
        if (loaded == null) {
            throw new CudaException(String.valueOf(failure));
        }
        return loaded;
    }

    int deviceCount() throws CudaException {
        int[] count = new int[1];
        check(JCudaDriver.cuDeviceGetCount(count), "cuDeviceGetCount");
        return count[0];
    }

    Device device(int ordinal) throws CudaException {
        CUdevice device = new CUdevice();
        check(JCudaDriver.cuDeviceGet(device, ordinal), "cuDeviceGet");
        CUuuid uuid = new CUuuid();
        check(JCudaDriver.cuDeviceGetUuid(uuid, device), "cuDeviceGetUuid");
        byte[] name = new byte[NAME_BYTES];
        check(JCudaDriver.cuDeviceGetName(name, name.length, device), "cuDeviceGetName");
        ByteBuffer bytes = ByteBuffer.wrap(uuid.bytes);
        return new Device(ordinal, new UUID(bytes.getLong(), bytes.getLong()), text(name));
    }

    static void check(int result, String call) throws CudaException {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new CudaException(call + " failed: " + CUresult.stringFor(result) + " (" + result + ")");
        }
    }

    private static String text(byte[] name) {
        int end = 0;
        while (end < name.length && name[end] != 0) {
            end++;
        }
        return new String(name, 0, end, StandardCharsets.UTF_8);
    }

    private static String firstLine(LinkageError e) {
        String message = String.valueOf(e.getMessage()).strip();
        int end = message.indexOf('\n');
        return end < 0 ? message : message.substring(0, end).strip();
    }
}
