package io.clairfs.tools.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory this process may count on: what the machine has free, or its control group allows, whichever is less. */
public final class MachineMemory {
    private static final Path MACHINE = Path.of("/proc/meminfo");
    private static final Path GROUP_V2 = Path.of("/sys/fs/cgroup/memory.max");
    private static final Path GROUP_V1 = Path.of("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    private static final long MODEST = 1L << 30;

    private MachineMemory() {}

    /** Bytes. */
    public static long availableBytes() {
        return Math.min(machine(), Math.min(limit(GROUP_V2), limit(GROUP_V1)));
    }

    private static long machine() {
        try {
            return Files.readAllLines(MACHINE).stream()
                    .filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                    .findFirst()
                    .orElse(MODEST);
        } catch (IOException e) {
            return MODEST;
        }
    }

    private static long limit(Path file) {
        try {
            String text = Files.readString(file).strip();
            return text.equals("max") ? Long.MAX_VALUE : Long.parseLong(text);
        } catch (IOException | NumberFormatException noLimit) {
            return Long.MAX_VALUE;
        }
    }
}
