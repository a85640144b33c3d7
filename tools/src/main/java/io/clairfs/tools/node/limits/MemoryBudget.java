package io.clairfs.tools.node.limits;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The default sizes of the areas of a daemon's memory.
 *
 * <p>With plenty of memory, {@code memory} is a quarter of it and each other area has its usual size. In a control group with a limit, a daemon
 * that exceeds the limit is killed. There all areas together take half of what the group leaves at most, minimum sizes aside; the other half is
 * the trainer's.
 *
 * @param heapBytes the bound of Java's heap
 * @param memoryBytes the memory tier
 * @param stagingBytes page cache ahead of the trainers
 * @param fromSourceBytes samples in flight from the source
 * @param readersBytes samples that readers requested in the last seconds
 * @param fromPeersBytes samples in flight from other nodes
 * @param queueBytes the write-back queue of one SSD
 */
public record MemoryBudget(
        long heapBytes,
        long memoryBytes,
        long stagingBytes,
        long fromSourceBytes,
        long readersBytes,
        long fromPeersBytes,
        long queueBytes) {
    /** The JVM's memory beside its heap: classes, compiled code, stacks, the collector's tables. */
    static final long JVM_BYTES = 128L << 20;

    private static final long MIB = 1 << 20;
    private static final long LEAST_HEAP = 96 * MIB;
    private static final long MOST_STAGING = 1 << 30;
    private static final long MOST_FROM_SOURCE = 512 * MIB;
    private static final long MOST_OF_READERS = 256 * MIB;
    private static final long MOST_FROM_PEERS = 256 * MIB;
    private static final long MOST_IN_QUEUE = 64 * MIB;

    /**
     * Divides the available memory.
     *
     * @param usualHeapBytes the JVM's own bound of its heap
     * @param ssds the number of SSD tiers
     * @param hasPeers whether samples come from other nodes
     */
    public static MemoryBudget of(MachineMemory machine, long usualHeapBytes, int ssds, boolean hasPeers) {
        long available = machine.availableBytes();
        long heap = machine.isLimited()
                ? Math.clamp(available / 8, Math.min(LEAST_HEAP, usualHeapBytes), usualHeapBytes)
                : usualHeapBytes;
        MemoryBudget withoutMemory = new MemoryBudget(
                heap,
                0,
                Math.clamp(available / 8, MIB, MOST_STAGING),
                Math.clamp(available / 16, MIB, MOST_FROM_SOURCE),
                Math.clamp(available / 32, MIB, MOST_OF_READERS),
                Math.clamp(available / 32, MIB, MOST_FROM_PEERS),
                Math.clamp(available / 64 / Math.max(1, ssds), MIB, MOST_IN_QUEUE));
        long quarter = Math.max(MIB, available / 4);
        return withoutMemory.withMemory(
                machine.isLimited()
                        ? Math.clamp(
                                available / 2 - withoutMemory.totalBytes(ssds, hasPeers),
                                Math.max(MIB, available / 32),
                                quarter)
                        : quarter);
    }

    private MemoryBudget withMemory(long bytes) {
        return with(bytes, stagingBytes);
    }

    /** The same with these sizes of {@code --memory} and {@code --staging}. */
    public MemoryBudget with(long memory, long staging) {
        return new MemoryBudget(heapBytes, memory, staging, fromSourceBytes, readersBytes, fromPeersBytes, queueBytes);
    }

    /**
     * The largest {@code --memory} that fits beside the other areas with the smallest heap, bytes; 0 if none does. Staging does not count,
     * because the kernel can reclaim it.
     */
    public long mostMemoryBytes(MachineMemory machine, int ssds, boolean hasPeers) {
        return Math.max(0, machine.mostBytes() - withoutHeap(0, ssds, hasPeers) - Math.min(LEAST_HEAP, heapBytes));
    }

    /** The same with a heap that fits beside this {@code --memory}, which {@link #mostMemoryBytes} allows. */
    public MemoryBudget withHeapBeside(long memory, MachineMemory machine, int ssds, boolean hasPeers) {
        long room = machine.mostBytes() - withoutHeap(memory, ssds, hasPeers);
        long heap = Math.clamp(room, Math.min(LEAST_HEAP, heapBytes), heapBytes);
        return new MemoryBudget(
                heap, memoryBytes, stagingBytes, fromSourceBytes, readersBytes, fromPeersBytes, queueBytes);
    }

    private long withoutHeap(long memory, int ssds, boolean hasPeers) {
        return with(memory, 0).totalBytes(ssds, hasPeers) - heapBytes;
    }

    /**
     * The largest sample that is fetched whole for a tier or for another node, bytes: with the default {@code --memory}, an eighth of what the machine
     * has. It takes that memory beside the areas until it is written or sent.
     */
    public long largestWholeBytes() {
        return Math.max(fromSourceBytes, memoryBytes / 2);
    }

    /** The bound of each area, bytes, by its name in the status. */
    public Map<String, Long> areas(int ssds, boolean hasPeers) {
        Map<String, Long> areas = new LinkedHashMap<>();
        areas.put("heap", heapBytes);
        areas.put("jvm", JVM_BYTES);
        areas.put("memory", memoryBytes);
        areas.put("staging", stagingBytes);
        areas.put("source", fromSourceBytes);
        areas.put("readers", readersBytes);
        areas.put("peers", hasPeers ? fromPeersBytes : 0);
        areas.put("write_back", ssds * queueBytes);
        return areas;
    }

    /** What samples take together, beside pages of the page cache, when their areas are full, bytes. */
    public long sampleBytes(int ssds, boolean hasPeers) {
        return memoryBytes + fromSourceBytes + readersBytes + (hasPeers ? fromPeersBytes : 0) + ssds * queueBytes;
    }

    /** The bytes that all areas take together when they are full. */
    long totalBytes(int ssds, boolean hasPeers) {
        return areas(ssds, hasPeers).values().stream().mapToLong(bytes -> bytes).sum();
    }
}
