package io.clairfs.cache.plan.request;

/**
 * What the nodes already hold when a plan is made. It only breaks ties, so that no sample is fetched or moved in vain. Nodes that should
 * compute the same plan must be told the same.
 */
@FunctionalInterface
public interface Held {
    /** In place of a class: the node does not hold it. */
    int NOT_HELD = -1;

    /** No node holds anything. */
    Held NOTHING = (node, sample) -> NOT_HELD;

    /** The fastest of the node's classes that holds the sample, or {@link #NOT_HELD}. */
    int classOf(int node, int sample);

    /** Whether the node holds the sample in any of its classes. */
    default boolean holds(int node, int sample) {
        return classOf(node, sample) != NOT_HELD;
    }
}
