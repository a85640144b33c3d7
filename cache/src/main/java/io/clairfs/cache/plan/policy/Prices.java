package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a copy of a sample saves, in seconds per byte, from the performance model: cs, cp and cl are what one byte of a sample
 * of this size costs from the source, from another node and from the node's own fastest class.
 *
 * <p>Without any copy each use costs cs. With one somewhere else it costs m = min(cs, cp), and with one here cl. So a sample
 * that is used E times in all, r of these at node i, is worth E (cs - m) + r (m - cl) as a first copy at i, and r (m - cl) as a
 * further one. Where the source is as fast as the network the first term vanishes and only local uses count.
 */
public final class Prices {
    private final Line source;
    private final Line[] peer;
    private final Line[][] local;
    private final int[] fastest;

    /** Seconds as a line over bytes, as all costs of the model are. */
    private record Line(double latency, double perByte) {
        static Line of(double ofNothing, double ofOneMebibyte) {
            return new Line(ofNothing, (ofOneMebibyte - ofNothing) / (1 << 20));
        }

        double eachByte(double perSample) {
            return latency * perSample + perByte;
        }
    }

    public Prices(PlanRequest request) {
        PerformanceModel model = request.model();
        double clients = readers(request.needs());
        source = Line.of(model.fetchFromSource(0, clients), model.fetchFromSource(1 << 20, clients));
        int nodes = request.nodes().size();
        peer = new Line[nodes];
        local = new Line[nodes][];
        fastest = new int[nodes];
        for (int node = 0; node < nodes; node++) {
            NodeStorage storage = request.nodes().get(node);
            StorageClass first = storage.fastest();
            peer[node] = Line.of(model.fetchFromPeer(0, first), model.fetchFromPeer(1 << 20, first));
            fastest[node] = Math.max(0, storage.classes().indexOf(first));
            local[node] = storage.classes().stream()
                    .map(each -> Line.of(model.fetchFromLocal(0, each), model.fetchFromLocal(1 << 20, each)))
                    .toArray(Line[]::new);
        }
    }

    /** gamma: the nodes that read at once. */
    private static double readers(List<Need> needs) {
        Set<Integer> nodes = new HashSet<>();
        for (Need need : needs) {
            for (int node : need.nodeOfRank()) {
                if (node >= 0) {
                    nodes.add(node);
                }
            }
        }
        return Math.max(1, nodes.size());
    }

    /** cs - m, of any use when there is a copy at this node. */
    double coverage(int node, long bytes) {
        double perSample = 1.0 / Math.max(1, bytes);
        return Math.max(0, source.eachByte(perSample) - peer[node].eachByte(perSample));
    }

    /** m - cl, of a local use at this node, from its fastest class. */
    double locality(int node, long bytes) {
        return locality(node, fastest[node], bytes);
    }

    /** m - cl for a class of this node; 0 where it is no faster than elsewhere. */
    double locality(int node, int storageClass, long bytes) {
        if (storageClass >= local[node].length) {
            return 0;
        }
        double perSample = 1.0 / Math.max(1, bytes);
        double elsewhere = Math.min(source.eachByte(perSample), peer[node].eachByte(perSample));
        return Math.max(0, elsewhere - local[node][storageClass].eachByte(perSample));
    }
}
