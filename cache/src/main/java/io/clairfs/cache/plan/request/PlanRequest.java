package io.clairfs.cache.plan.request;

import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import java.util.List;
import java.util.Set;

/**
 * All that a plan depends on.
 *
 * @param samples how many the plan is about; they are numbered from 0
 * @param sizes of these
 * @param needs of all jobs; their uses add up
 * @param nodes the storage of each node, at most 32,767 of them
 * @param model that weighs copies
 * @param held what the nodes hold already
 * @param gone nodes that have left: the plan is the one with them, and then the others take over their samples, so that no other sample moves
 */
public record PlanRequest(
        int samples,
        SampleSizes sizes,
        List<Need> needs,
        List<NodeStorage> nodes,
        PerformanceModel model,
        Held held,
        Set<Integer> gone) {

    public PlanRequest {
        needs = List.copyOf(needs);
        nodes = List.copyOf(nodes);
        gone = Set.copyOf(gone);
        if (samples < 0 || nodes.isEmpty() || nodes.size() > Short.MAX_VALUE) {
            throw new IllegalArgumentException(samples + " samples, " + nodes.size() + " nodes");
        }
        for (Need need : needs) {
            for (int node : need.nodeOfRank()) {
                if (node >= nodes.size()) {
                    throw new IllegalArgumentException("a rank reads on node " + node + " of " + nodes.size());
                }
            }
        }
    }

    /** A request where nothing is held yet. */
    public PlanRequest(
            int samples, SampleSizes sizes, List<Need> needs, List<NodeStorage> nodes, PerformanceModel model) {
        this(samples, sizes, needs, nodes, model, Held.NOTHING);
    }

    /** A request where no node has left. */
    public PlanRequest(
            int samples,
            SampleSizes sizes,
            List<Need> needs,
            List<NodeStorage> nodes,
            PerformanceModel model,
            Held held) {
        this(samples, sizes, needs, nodes, model, held, Set.of());
    }
}
