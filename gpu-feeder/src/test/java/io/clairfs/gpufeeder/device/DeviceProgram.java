package io.clairfs.gpufeeder.device;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.RingLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;

/** What a test does with a device, in a process of its own: the driver's library is chosen when a process starts. */
final class DeviceProgram {
    private DeviceProgram() {}

    /**
     * {@code probe}: prints what is there. {@code ring DEVICE FILE SLOTS}: copies the slots of a file to a device, the second one twice, prints
     * the handle, and closes the ring at the end of its input.
     */
    public static void main(String[] arguments) throws IOException {
        switch (arguments[0]) {
            case "probe" -> System.out.println(DeviceProbe.run());
            case "ring" -> ring(arguments[1], Path.of(arguments[2]), Integer.parseInt(arguments[3]));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void ring(String device, Path file, int count) throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment all = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
            ring(device, all, all.byteSize() / count, count);
        } catch (CudaException e) {
            System.out.println("error: " + e.getMessage());
        }
    }

    private static void ring(String device, MemorySegment all, long bytes, int count) throws IOException {
        Device found = DeviceProbe.find(device);
        SampleFormat format = new SampleFormat(ElementType.UINT8, List.of((int) bytes - 2 * 64));
        RingLayout layout = new RingLayout(count, 1, format);
        try (DeviceRing ring = DeviceRing.open(found, layout, slot -> all.asSlice(slot * bytes, bytes), null, 0)) {
            for (int slot = 0; slot < count; slot++) {
                ring.begin(slot, 0, 1);
            }
            for (int slot = 0; slot < count; slot++) {
                ring.finish(slot);
            }
            all.asSlice(bytes, Long.BYTES).fill((byte) 7);
            ring.begin(1, 0, 1);
            ring.finish(1);
            System.out.println(found.identity() + " " + ring.layout().slotBytes() + " "
                    + HexFormat.of().formatHex(ring.handle()));
            while (System.in.read() >= 0) {
                all.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
            }
        }
    }
}
