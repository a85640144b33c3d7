package io.clairfs.tools.config;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.cache.plan.preprocess.PreprocessModel;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The performance model in a file (NoPFS section 4, Table 2): rates in MB/s (10^6 bytes), latencies in seconds, maps from a number of threads to
 * the rate of all of them together. Missing values are those of {@link PerformanceModel#unmeasured}.
 *
 * @param source the slow store: t(gamma) as {@code read}
 * @param memory the memory tier: r_1(p) and w_1(p)
 * @param ssd each SSD
 * @param network b_c, of one node
 * @param peerLatency of one request to another node
 * @param compute c, of one rank
 * @param preprocess beta
 * @param decode samples per second of all threads together, by the name of what was done with them, their bytes and the number of threads:
 *     Lobster (ICPP 2022), section 4.1
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ModelFile(
        @Nullable Device source,
        @Nullable Device memory,
        @Nullable Device ssd,
        @Nullable Double network,
        @Nullable Double peerLatency,
        @Nullable Double compute,
        @Nullable Double preprocess,
        @Nullable Map<String, Map<Long, Map<Integer, Double>>> decode) {
    /** A model without measurements. */
    public static final ModelFile UNMEASURED = new ModelFile(null, null, null, null, null, null, null, null);

    private static final double MEGA = 1e6;

    /**
     * A device that samples are read from, and perhaps written to.
     *
     * @param threads p_j, how many threads fill it; null for the default
     * @param latency of one request
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Device(
            @Nullable Integer threads,
            @Nullable Double latency,
            @Nullable Map<Integer, Double> read,
            @Nullable Map<Integer, Double> write) {
        /** Whether reads were measured: nothing may have been readable. */
        public boolean hasReadRates() {
            return read != null && !read.isEmpty();
        }
    }

    /** The same without what is no other node's business: it would be too long to tell them. */
    public ModelFile withoutDecode() {
        return new ModelFile(source, memory, ssd, network, peerLatency, compute, preprocess, null);
    }

    /** The model for the planner and the router. */
    public PerformanceModel model() {
        PerformanceModel rest = PerformanceModel.unmeasured();
        return new PerformanceModel(
                rate(compute, rest.computeBytesPerSecond()),
                rate(preprocess, rest.preprocessBytesPerSecond()),
                rate(network, rest.networkBytesPerSecond()),
                throughput(source == null ? null : source.read, rest.source()),
                rest.staging(),
                Objects.requireNonNullElse(source == null ? null : source.latency, rest.sourceLatencySeconds()),
                Objects.requireNonNullElse(peerLatency, rest.peerLatencySeconds()));
    }

    /** The memory tier as the planner's storage class. */
    public StorageClass memoryClass(long capacityBytes) {
        return storageClass(memory, StorageClass.memory(capacityBytes));
    }

    /** An SSD tier as the planner's storage class. */
    public StorageClass ssdClass(long capacityBytes) {
        return storageClass(ssd, StorageClass.ssd(capacityBytes));
    }

    /** The preprocessing that was measured; of several, the one whose name comes first. Null if none was. */
    public @Nullable PreprocessModel preprocessing() {
        if (decode == null || decode.isEmpty()) {
            return null;
        }
        Map.Entry<String, Map<Long, Map<Integer, Double>>> first = new TreeMap<>(decode).firstEntry();
        if (first.getValue() == null) {
            throw new IllegalArgumentException("decode: " + first.getKey() + " has no size");
        }
        first.getValue().forEach((bytes, rates) -> {
            if (rates == null || rates.values().stream().anyMatch(Objects::isNull)) {
                throw new IllegalArgumentException("decode: " + first.getKey() + ": " + bytes + " bytes have no rate");
            }
        });
        return PreprocessModel.measured(new TreeMap<>(first.getValue()));
    }

    private static StorageClass storageClass(@Nullable Device device, StorageClass rest) {
        return device == null
                ? rest
                : new StorageClass(
                        rest.name(),
                        rest.capacityBytes(),
                        Objects.requireNonNullElse(device.threads, rest.threads()),
                        throughput(device.read, rest.read()),
                        throughput(device.write, rest.write()),
                        Objects.requireNonNullElse(device.latency, rest.latencySeconds()),
                        rest.entryBytes());
    }

    private static double rate(@Nullable Double mega, double otherwise) {
        return mega == null ? otherwise : mega * MEGA;
    }

    private static Throughput throughput(@Nullable Map<Integer, Double> rates, Throughput otherwise) {
        if (rates == null || rates.isEmpty()) {
            return otherwise;
        }
        if (rates.values().stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("a number of threads has no rate");
        }
        List<Throughput.Point> points = new TreeMap<>(rates)
                .entrySet().stream()
                        .map(e -> new Throughput.Point(e.getKey(), e.getValue() * MEGA))
                        .toList();
        return new Throughput(points);
    }
}
