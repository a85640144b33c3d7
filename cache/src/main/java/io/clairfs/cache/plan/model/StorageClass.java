package io.clairfs.cache.plan.model;

import io.clairfs.cache.tier.ssd.SsdTier;

/**
 * A kind of storage on a node as the planner sees it (NoPFS section 4): memory, an SSD, a disk.
 *
 * @param name as in status, such as {@code memory}
 * @param capacityBytes d_j, what it may hold
 * @param threads p_j, how many threads read or write it at once
 * @param read r_j(p), random reads
 * @param write w_j(p)
 * @param latencySeconds of one request beside its bytes; not in the paper, see {@link PerformanceModel}
 * @param entryBytes what each sample takes of the capacity beside its bytes; not in the paper
 */
public record StorageClass(
        String name,
        long capacityBytes,
        int threads,
        Throughput read,
        Throughput write,
        double latencySeconds,
        int entryBytes) {

    public StorageClass {
        if (capacityBytes < 0 || threads < 1 || entryBytes < 0) {
            throw new IllegalArgumentException(name + ": " + capacityBytes + " bytes, " + threads + " threads, "
                    + entryBytes + " bytes beside each sample");
        }
        PerformanceModel.requireLatency(latencySeconds);
    }

    /** A class without latency of its own, in which a sample takes its bytes and nothing else. */
    public StorageClass(String name, long capacityBytes, int threads, Throughput read, Throughput write) {
        this(name, capacityBytes, threads, read, write, 0, 0);
    }

    /** Memory that was not measured. */
    public static StorageClass memory(long capacityBytes) {
        Throughput throughput = Throughput.perThread(5e9, 4);
        return new StorageClass("memory", capacityBytes, 4, throughput, throughput);
    }

    /** A local SSD that was not measured; entries are those of {@link SsdTier}. */
    public static StorageClass ssd(long capacityBytes) {
        return new StorageClass(
                "ssd",
                capacityBytes,
                4,
                Throughput.perThread(0.5e9, 4),
                Throughput.perThread(0.25e9, 4),
                100e-6,
                SsdTier.ENTRY_BYTES);
    }

    /** The same storage with another capacity. */
    public StorageClass withCapacity(long bytes) {
        return new StorageClass(name, bytes, threads, read, write, latencySeconds, entryBytes);
    }

    /** The bytes of the capacity that a sample of so many bytes takes. */
    public long bytesOf(long sampleBytes) {
        return sampleBytes + entryBytes;
    }

    /** Bytes per second that one of the reading threads gets: r_j(p_j) / p_j. */
    double readOfOneThread() {
        return read.each(threads);
    }

    /** Bytes per second that one of the writing threads gets: w_j(p_j) / p_j. */
    double writeOfOneThread() {
        return write.each(threads);
    }
}
