package io.clairfs.tools.node.cluster;

import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.cache.tier.Tier;
import io.clairfs.tools.config.ModelFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.function.ToDoubleFunction;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a node tells the others of itself for their common plan: the room in its tiers, and what was measured of it (NoPFS, section 4: the
 * parameters of the performance model are those of the machines).
 *
 * @param capacities the room for samples in each tier, bytes, fastest first
 * @param model the measurements, as {@code clairfs calibrate} writes them
 */
record NodeFacts(List<Long> capacities, ModelFile model) {
    /** A node may say so many bytes of itself. */
    private static final int MOST_BYTES = 4_000;

    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    NodeFacts {
        capacities = List.copyOf(capacities);
    }

    static NodeFacts of(List<Tier> tiers, ModelFile model) {
        return new NodeFacts(tiers.stream().map(Tier::sampleRoomBytes).toList(), model.withoutDecode());
    }

    /** As it travels. Measurements that are too long are left out. */
    byte[] bytes() {
        byte[] all = JSON.writeValueAsBytes(this);
        return all.length <= MOST_BYTES ? all : JSON.writeValueAsBytes(new NodeFacts(capacities, ModelFile.UNMEASURED));
    }

    /** What a node said; one that says nothing that can be read has no room. */
    static NodeFacts read(byte[] said) {
        try {
            NodeFacts facts = JSON.readValue(said, NodeFacts.class);
            if (facts != null) {
                var _ = facts.storage(); // refuses values that the model does not accept
                var _ = facts.model.model();
                return facts;
            }
        } catch (RuntimeException e) { // also a part that is missing: null
            System.getLogger(NodeFacts.class.getName())
                    .log(System.Logger.Level.WARNING, "a node of another version: " + e.getMessage());
        }
        return new NodeFacts(List.of(), ModelFile.UNMEASURED);
    }

    /** The same of hexadecimal digits. */
    static NodeFacts readHex(String said) {
        try {
            return read(HexFormat.of().parseHex(said));
        } catch (IllegalArgumentException noDigits) {
            return read(new byte[0]);
        }
    }

    /** The node's tiers as the planner's storage classes. */
    NodeStorage storage() {
        List<StorageClass> classes = new ArrayList<>();
        for (long bytes : capacities) {
            classes.add(classes.isEmpty() ? model.memoryClass(bytes) : model.ssdClass(bytes));
        }
        return new NodeStorage(classes);
    }

    /** The model that nodes with these facts plan with: each parameter is the median of theirs, the lower one of two. */
    static PerformanceModel combined(List<NodeFacts> nodes) {
        List<PerformanceModel> models =
                nodes.stream().map(node -> node.model.model()).toList();
        Throughput source = models.stream()
                .map(PerformanceModel::source)
                .sorted(Comparator.comparingDouble(rate -> rate.at(nodes.size())))
                .skip((nodes.size() - 1) / 2)
                .findFirst()
                .orElseThrow();
        return new PerformanceModel(
                median(models, PerformanceModel::computeBytesPerSecond),
                median(models, PerformanceModel::preprocessBytesPerSecond),
                median(models, PerformanceModel::networkBytesPerSecond),
                source,
                models.getFirst().staging(),
                median(models, PerformanceModel::sourceLatencySeconds),
                median(models, PerformanceModel::peerLatencySeconds));
    }

    private static double median(List<PerformanceModel> models, ToDoubleFunction<PerformanceModel> parameter) {
        return models.stream()
                .mapToDouble(parameter)
                .sorted()
                .skip((models.size() - 1) / 2)
                .findFirst()
                .orElseThrow();
    }
}
