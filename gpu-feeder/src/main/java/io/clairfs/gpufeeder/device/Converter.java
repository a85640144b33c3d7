package io.clairfs.gpufeeder.device;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.ring.RingLayout;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;

/** Converts batches on the device, by the kernels of {@code convert.cu}: from slots as the host has them to those that a trainer sees. */
final class Converter {
    private static final String PROGRAM = "convert.ptx";
    private static final int BLOCK = 256;

    private final Conversion conversion;
    private final RingLayout host;
    private final RingLayout layout;
    private final DeviceStream stream;
    private final DeviceAddress raw;
    private final long seed;
    private final Conversion.Planes planes;
    private final CUfunction kernel;

    /** {@code raw}: as much memory as the host's slots take. */
    Converter(
            Conversion conversion,
            RingLayout host,
            RingLayout layout,
            DeviceStream stream,
            DeviceAddress raw,
            long seed)
            throws CudaException {
        this.conversion = conversion;
        this.host = host;
        this.layout = layout;
        this.stream = stream;
        this.raw = raw;
        this.seed = seed;
        planes = Conversion.planes(host);
        String name = conversion.type() == ElementType.FLOAT16 ? "convert_float16" : "convert_float32";
        kernel = stream.kernel(program(), name);
    }

    private static byte[] program() {
        try (InputStream in = Converter.class.getResourceAsStream(PROGRAM)) {
            if (in == null) {
                throw new AssertionError("the program has no " + PROGRAM);
            }
            byte[] text = in.readAllBytes();
            return Arrays.copyOf(text, text.length + 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where a slot of the host is copied to. */
    CUdeviceptr raw(int slot) {
        return raw.withByteOffset(slot * host.slotBytes());
    }

    /** Converts the samples of a slot that was copied, and takes their labels along. */
    void convert(int slot, int epoch, int count, CUdeviceptr to) throws CudaException {
        CUdeviceptr from = raw(slot);
        Pointer arguments = Pointer.to(
                Pointer.to(from),
                Pointer.to(to),
                Pointer.to(from.withByteOffset(host.indices())),
                Pointer.to(new long[] {seed}),
                integer(epoch),
                integer(conversion.flip() ? 1 : 0),
                integer(planes.width()),
                integer(planes.height()),
                integer(planes.channels()),
                integer(planes.pixel()),
                integer(planes.plane()),
                scale(0),
                scale(1),
                scale(2),
                scale(3),
                bias(0),
                bias(1),
                bias(2),
                bias(3));
        stream.launch(kernel, planes.width() * planes.height(), count, BLOCK, arguments);
        stream.copy(
                to.withByteOffset(layout.labels()),
                from.withByteOffset(host.labels()),
                (long) host.batch() * Long.BYTES);
    }

    private static Pointer integer(int value) {
        return Pointer.to(new int[] {value});
    }

    private Pointer scale(int channel) {
        return Pointer.to(new float[] {conversion.scale(channel)});
    }

    private Pointer bias(int channel) {
        return Pointer.to(new float[] {conversion.bias(channel)});
    }
}
