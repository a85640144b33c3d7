package io.clairfs.cache.plan.request;

/**
 * What the nodes already hold when a plan is made. It only breaks ties, so that nothing is fetched again for nothing; nodes
 * that are to compute the same plan must be told the same.
 */
@FunctionalInterface
public interface Held {
    /** Nobody holds anything. */
    Held NOTHING = (node, sample) -> false;

    /** Whether the node holds the sample in any of its classes. */
    boolean holds(int node, int sample);
}
