package io.clairfs.tools.node.limits;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The memory available to this process.
 *
 * @param totalBytes the machine's memory
 * @param freeBytes the machine's free and reclaimable memory
 * @param groupBytes the memory that the control groups of this process leave it; {@link Long#MAX_VALUE} when they set no limit
 */
public record MachineMemory(long totalBytes, long freeBytes, long groupBytes) {
    private static final long MODEST = 1L << 30;

    /** The memory of this machine now. */
    public static MachineMemory now() {
        return of(Path.of("/"));
    }

    /** The same, read from the files below {@code root} in place of those of this machine. */
    public static MachineMemory of(Path root) {
        return of(root, "self");
    }

    /** The same as it is for another process, given by its name below {@code proc}. */
    public static MachineMemory of(Path root, String process) {
        Path meminfo = root.resolve("proc/meminfo");
        long free = figure(meminfo, "MemAvailable:");
        return new MachineMemory(
                Math.max(free, figure(meminfo, "MemTotal:")), free, new ControlGroups(root, process).availableBytes());
    }

    /** The memory that this process may take now, bytes. */
    public long availableBytes() {
        return Math.min(freeBytes, groupBytes);
    }

    /** The most that a process may have, bytes: the machine's memory, or what the control groups leave. */
    public long mostBytes() {
        return Math.min(totalBytes, groupBytes);
    }

    /** Whether a control group sets the bound. */
    boolean isLimited() {
        return groupBytes < freeBytes;
    }

    private static long figure(Path meminfo, String name) {
        try {
            return Files.readAllLines(meminfo).stream()
                    .filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                    .findFirst()
                    .orElse(MODEST);
        } catch (IOException e) {
            return MODEST;
        }
    }
}
