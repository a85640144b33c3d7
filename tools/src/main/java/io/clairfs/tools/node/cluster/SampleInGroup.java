package io.clairfs.tools.node.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a sample is in the group, as far as this node was told.
 *
 * @param node the name of this node
 * @param joined whether it is in its group now; if not, nothing is known of the others
 * @param holders the other nodes that hold the sample, in the order of their names, each once
 * @param home the name of the node that the plan makes the sample's home; null if there is none, or it has left the group
 */
public record SampleInGroup(
        String node,
        boolean joined,
        List<Holder> holders,
        @Nullable String home) {
    public SampleInGroup {
        holders = List.copyOf(holders);
    }

    /**
     * Another node.
     *
     * @param tier the fastest of its tiers that hold the sample: {@code memory} or {@code ssd}
     */
    public record Holder(String node, String tier) {}
}
