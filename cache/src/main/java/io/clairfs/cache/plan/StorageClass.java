package io.clairfs.cache.plan;

/**
 * A kind of storage on a node as the planner sees it (NoPFS section 4): memory, an SSD, a disk.
 *
 * @param name as in status, such as {@code memory}
 * @param capacityBytes d_j, what it may hold
 * @param threads p_j, how many threads read or write it at once
 * @param read r_j(p), random reads
 * @param write w_j(p)
 * @param latencySeconds of one request beside its bytes; not in the paper, see {@link PerformanceModel}
 */
public record StorageClass(
        String name, long capacityBytes, int threads, Throughput read, Throughput write, double latencySeconds) {

    public StorageClass {
        if (capacityBytes < 0 || threads < 1) {
            throw new IllegalArgumentException(name + ": " + capacityBytes + " bytes, " + threads + " threads");
        }
        PerformanceModel.requireLatency(latencySeconds);
    }

    /** A class without latency of its own. */
    public StorageClass(String name, long capacityBytes, int threads, Throughput read, Throughput write) {
        this(name, capacityBytes, threads, read, write, 0);
    }

    /** Memory of a machine that nobody measured. */
    public static StorageClass memory(long capacityBytes) {
        Throughput throughput = Throughput.perThread(5e9, 4);
        return new StorageClass("memory", capacityBytes, 4, throughput, throughput);
    }

    /** A local SSD of a machine that nobody measured. */
    public static StorageClass ssd(long capacityBytes) {
        return new StorageClass(
                "ssd", capacityBytes, 4, Throughput.perThread(0.5e9, 4), Throughput.perThread(0.25e9, 4), 100e-6);
    }

    /** The same storage with another capacity. */
    public StorageClass withCapacity(long bytes) {
        return new StorageClass(name, bytes, threads, read, write, latencySeconds);
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
