package io.clairfs.cache.plan.model;

/**
 * How long a thread takes to bring one sample into the staging buffer, by where the sample is: NoPFS section 4.
 *
 * <p>The paper's cases cost bytes only, which holds for large samples. Ours add the latency of one request, because a fetch of a small file
 * from a parallel filesystem or a peer is nearly all latency; with latencies of 0, the default, the formulas are the paper's. Every time
 * here is that of one thread for one sample, in seconds; the caller adds them up over threads.
 *
 * @param computeBytesPerSecond c, the rate at which a rank consumes samples
 * @param preprocessBytesPerSecond beta
 * @param networkBytesPerSecond b_c, of one node
 * @param source t(gamma), random reads of the slow store by gamma clients together
 * @param staging class 0 of the paper: p_0 is its threads, w_0(p) its write
 * @param sourceLatencySeconds of one request to the source
 * @param peerLatencySeconds of one request to another node
 */
public record PerformanceModel(
        double computeBytesPerSecond,
        double preprocessBytesPerSecond,
        double networkBytesPerSecond,
        Throughput source,
        StorageClass staging,
        double sourceLatencySeconds,
        double peerLatencySeconds) {

    public PerformanceModel {
        requirePositive(computeBytesPerSecond);
        requirePositive(preprocessBytesPerSecond);
        requirePositive(networkBytesPerSecond);
        requireLatency(sourceLatencySeconds);
        requireLatency(peerLatencySeconds);
    }

    /** The paper's model: bytes only. */
    public PerformanceModel(
            double computeBytesPerSecond,
            double preprocessBytesPerSecond,
            double networkBytesPerSecond,
            Throughput source,
            StorageClass staging) {
        this(computeBytesPerSecond, preprocessBytesPerSecond, networkBytesPerSecond, source, staging, 0, 0);
    }

    /**
     * A guess for nodes that were not measured: a shared filesystem that is slower than the network, which is slower than memory.
     * {@link ObservedRates} corrects it.
     */
    public static PerformanceModel unmeasured() {
        StorageClass staging = StorageClass.memory(1L << 30);
        return new PerformanceModel(500e6, 1e9, 1.25e9, Throughput.perThread(100e6, 16), staging, 5e-3, 200e-6);
    }

    public PerformanceModel withLatencies(double sourceSeconds, double peerSeconds) {
        return new PerformanceModel(
                computeBytesPerSecond,
                preprocessBytesPerSecond,
                networkBytesPerSecond,
                source,
                staging,
                sourceSeconds,
                peerSeconds);
    }

    private static void requirePositive(double bytesPerSecond) {
        if (!(bytesPerSecond > 0) || Double.isInfinite(bytesPerSecond)) {
            throw new IllegalArgumentException("not positive or not finite: " + bytesPerSecond + " bytes/s");
        }
    }

    static void requireLatency(double seconds) {
        if (!(seconds >= 0) || Double.isInfinite(seconds)) {
            throw new IllegalArgumentException("not a latency: " + seconds + " s");
        }
    }

    /** Section 4, case 1: s_k / (t(gamma) / gamma), while {@code clients} (gamma, with this one) read the source. */
    public double fetchFromSource(long bytes, double clients) {
        return sourceLatencySeconds + bytes / source.each(clients);
    }

    /** Section 4, case 2: s_k / min(b_c, r_j(p_j) / p_j), from class j of another node. */
    public double fetchFromPeer(long bytes, StorageClass theirs) {
        return peerLatencySeconds
                + theirs.latencySeconds()
                + bytes / Math.min(networkBytesPerSecond, theirs.readOfOneThread());
    }

    /** Section 4, case 3: s_k / (r_j(p_j) / p_j), from class j of this node. */
    public double fetchFromLocal(long bytes, StorageClass ours) {
        return ours.latencySeconds() + bytes / ours.readOfOneThread();
    }

    /** Section 4, write: max(s_k / beta, s_k / (w_0(p_0) / p_0)), to preprocess and store in the staging buffer. */
    public double write(long bytes) {
        return Math.max(bytes / preprocessBytesPerSecond, bytes / staging.writeOfOneThread());
    }

    /** Section 4, read = fetch + write, for a fetch of {@code fetchSeconds}. */
    public double read(double fetchSeconds, long bytes) {
        return fetchSeconds + write(bytes);
    }
}
