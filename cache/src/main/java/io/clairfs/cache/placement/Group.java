package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.plan.model.NodeStorage;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that plan together, at one moment, in an order that all of them agree on.
 *
 * @param nodes by which a home is told later, when there may be others
 * @param storages what each of them offers
 * @param self this node's place among them
 * @param numbers of the files, as all of them count; null for a node that is on its own
 * @param ranks on which node each rank of a job reads
 */
public record Group(
        List<UUID> nodes,
        List<NodeStorage> storages,
        int self,
        @Nullable FileNumbers numbers,
        RankNodes ranks) {
    private static final UUID ALONE = new UUID(0, 0);

    public Group {
        nodes = List.copyOf(nodes);
        storages = List.copyOf(storages);
        if (nodes.size() != storages.size() || self < 0 || self >= nodes.size()) {
            throw new IllegalArgumentException(
                    nodes.size() + " nodes, " + storages.size() + " storages, this one being " + self);
        }
    }

    /** Where ranks read. */
    @FunctionalInterface
    public interface RankNodes {
        /** In place of a node: it reads on none that plans, as after the end of its node. */
        int ELSEWHERE = -1;

        /** In place of a node: nobody has said so far. */
        int UNKNOWN = -2;

        /** The node of each rank of a job. */
        int[] of(JobSpec job);
    }

    /** A node on its own: what does not read here does not concern it. */
    public static Group alone(NodeStorage storage) {
        return new Group(List.of(ALONE), List.of(storage), 0, null, job -> {
            int[] nodes = new int[job.world()];
            Arrays.fill(nodes, RankNodes.ELSEWHERE);
            Arrays.fill(nodes, job.firstRank(), job.lastRank() + 1, 0);
            return nodes;
        });
    }

    /** A node that knows nothing of the others yet, so that no rank is known to read anywhere. */
    public static Group unknown(FileNumbers numbers) {
        return new Group(List.of(ALONE), List.of(NodeStorage.of()), 0, numbers, job -> {
            int[] nodes = new int[job.world()];
            Arrays.fill(nodes, RankNodes.UNKNOWN);
            return nodes;
        });
    }

    boolean isAlone() {
        return numbers == null;
    }
}
