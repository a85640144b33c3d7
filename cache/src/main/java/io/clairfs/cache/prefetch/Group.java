package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.plan.NodeStorage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that plan together, at one moment, in an order that all of them agree on.
 *
 * @param storages what each of them offers
 * @param self this node's place among them
 * @param numbers of the files, as all of them count; null for a node that is on its own
 * @param ranks on which node each rank of a job reads
 */
public record Group(
        List<NodeStorage> storages, int self, @Nullable FileNumbers numbers, RankNodes ranks) {
    public Group {
        storages = List.copyOf(storages);
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
    static Group alone(NodeStorage storage) {
        return new Group(List.of(storage), 0, null, job -> {
            int[] nodes = new int[job.world()];
            java.util.Arrays.fill(nodes, RankNodes.ELSEWHERE);
            java.util.Arrays.fill(nodes, job.firstRank(), job.lastRank() + 1, 0);
            return nodes;
        });
    }

    boolean isAlone() {
        return numbers == null;
    }
}
