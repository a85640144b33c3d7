package io.clairfs.cache.plan;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What the tests of this package plan for. */
public final class PlanCases {
    /** A source clearly slower than the network: coverage wins. */
    static final PerformanceModel SLOW_SOURCE =
            new PerformanceModel(1e9, 1e9, 1e9, Throughput.constant(1e7), StorageClass.memory(1));

    /** A source as fast as the network: only local uses count. */
    static final PerformanceModel FAST_SOURCE =
            new PerformanceModel(1e9, 1e9, 1e9, Throughput.perThread(1e9, 1 << 10), StorageClass.memory(1));

    private PlanCases() {}

    static EpochSource torchDistributed(int samples, int world, long seed) throws InvalidSpecException {
        return Samplers.create(samples, Keys.parse("sampler=torch-distributed seed=" + seed + " world=" + world))
                ::epoch;
    }

    /** Orders written down: by epoch, rank and step. */
    static EpochSource written(int[][]... epochs) {
        return epoch -> new EpochOrder() {
            @Override
            public int length(int rank) {
                return epochs[epoch][rank].length;
            }

            @Override
            public int sample(int rank, int step) {
                return epochs[epoch][rank][step];
            }
        };
    }

    static int[] oneRankPerNode(int world) {
        int[] nodeOfRank = new int[world];
        Arrays.setAll(nodeOfRank, rank -> rank);
        return nodeOfRank;
    }

    /** One job with one rank on each of these nodes, samples of one size. */
    static PlanRequest request(int samples, long size, EpochSource orders, int epochs, List<NodeStorage> nodes) {
        return new PlanRequest(
                samples,
                _ -> size,
                List.of(new Need(orders, 0, epochs, oneRankPerNode(nodes.size()))),
                nodes,
                SLOW_SOURCE);
    }

    /** An SSD on which a sample takes its bytes and nothing else. */
    public static StorageClass ssd(long capacityBytes) {
        return ssd(capacityBytes, 0);
    }

    /** An SSD on which a sample takes so many bytes beside its own. */
    public static StorageClass ssd(long capacityBytes, int entryBytes) {
        StorageClass ssd = StorageClass.ssd(capacityBytes);
        return new StorageClass(
                ssd.name(), capacityBytes, ssd.threads(), ssd.read(), ssd.write(), ssd.latencySeconds(), entryBytes);
    }

    static List<NodeStorage> sameNodes(int nodes, long... capacities) {
        StorageClass[] classes = new StorageClass[capacities.length];
        Arrays.setAll(classes, each -> each == 0 ? StorageClass.memory(capacities[each]) : ssd(capacities[each]));
        return Collections.nCopies(nodes, NodeStorage.of(classes));
    }
}
