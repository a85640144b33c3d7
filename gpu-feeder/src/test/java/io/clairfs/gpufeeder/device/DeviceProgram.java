package io.clairfs.gpufeeder.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
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
            long bytes = all.byteSize() / count;
            List<MemorySegment> slots = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                slots.add(all.asSlice(i * bytes, bytes));
            }
            try (DeviceRing ring = DeviceRing.open(DeviceProbe.find(device), slots)) {
                for (int i = 0; i < count; i++) {
                    ring.begin(i, i % 2 == 0 ? bytes : bytes / 2);
                }
                for (int i = 0; i < count; i++) {
                    ring.finish(i);
                }
                slots.get(1).fill((byte) 7);
                ring.begin(1, Long.BYTES);
                ring.finish(1);
                System.out.println(ring.device().identity() + " " + ring.slotBytes() + " "
                        + HexFormat.of().formatHex(ring.handle()));
                while (System.in.read() >= 0) {
                    slots.get(0).set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
                }
            } catch (CudaException e) {
                System.out.println("error: " + e.getMessage());
            }
        }
    }
}
