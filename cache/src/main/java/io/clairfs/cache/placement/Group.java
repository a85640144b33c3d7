package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that plan together, at one moment, in an order that all of them agree on.
 *
 * @param nodes ids, by which a home is known even after nodes have come or gone
 * @param storages the storage of each of them
 * @param self this node's place among them
 * @param numbers of the files, the same on all of them; null for a node alone
 * @param ranks the node on which each rank of a job reads
 * @param gone the places of nodes that have left while ranks of theirs are expected back; they have no part in the group but for the plan
 * @param model what they plan with; null for each node's own
 */
public record Group(
        List<UUID> nodes,
        List<NodeStorage> storages,
        int self,
        @Nullable FileNumbers numbers,
        RankNodes ranks,
        Set<Integer> gone,
        @Nullable PerformanceModel model) {
    private static final UUID ALONE = new UUID(0, 0);

    public Group {
        nodes = List.copyOf(nodes);
        storages = List.copyOf(storages);
        gone = Set.copyOf(gone);
        if (nodes.size() != storages.size() || self < 0 || self >= nodes.size()) {
            throw new IllegalArgumentException(
                    nodes.size() + " nodes, " + storages.size() + " storages, this one being " + self);
        }
    }

    /** A group that no node has left, and that has no common model. */
    public Group(
            List<UUID> nodes, List<NodeStorage> storages, int self, @Nullable FileNumbers numbers, RankNodes ranks) {
        this(nodes, storages, self, numbers, ranks, Set.of(), null);
    }

    /** Where ranks read. */
    @FunctionalInterface
    public interface RankNodes {
        /** In place of a node: the rank reads on none that plans, as after its node has left. */
        int ELSEWHERE = -1;

        /** In place of a node: not known yet. */
        int UNKNOWN = -2;

        /** The node of each rank of a job. */
        int[] of(JobSpec job);
    }

    /** A node alone: ranks that do not read here do not concern it. */
    public static Group alone(NodeStorage storage) {
        return new Group(List.of(ALONE), List.of(storage), 0, null, job -> {
            int[] nodes = new int[job.world()];
            Arrays.fill(nodes, RankNodes.ELSEWHERE);
            Arrays.fill(nodes, job.firstRank(), job.lastRank() + 1, 0);
            return nodes;
        });
    }

    /** A node that does not know the others yet, nor where any rank reads. */
    public static Group unknown(FileNumbers numbers) {
        return new Group(List.of(ALONE), List.of(NodeStorage.of()), 0, numbers, job -> {
            int[] nodes = new int[job.world()];
            Arrays.fill(nodes, RankNodes.UNKNOWN);
            return nodes;
        });
    }

    /** The same nodes, where this one has so many bytes of memory less for its plan. */
    Group withoutMemory(long bytes) {
        NodeStorage here = storages.get(self);
        long[] capacities =
                here.classes().stream().mapToLong(StorageClass::capacityBytes).toArray();
        capacities[ResidentSamples.MEMORY] -= bytes;
        List<NodeStorage> less = new ArrayList<>(storages);
        less.set(self, here.withCapacities(capacities));
        return new Group(nodes, less, self, numbers, ranks, gone, model);
    }

    /** Whether a rank on this node, as {@link RankNodes} gives it, reads in the group now. */
    boolean isHere(int node) {
        return node >= 0 && !gone.contains(node);
    }

    boolean isAlone() {
        return numbers == null;
    }
}
