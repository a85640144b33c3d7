package io.clairfs.cache.plan.policy;

/** Which samples a node keeps, before it is said in which class. */
public interface Selection {
    /** A mark that is no class. */
    byte SELECTED = -2;

    /** Marks the samples that this node keeps, no more than it can be promised room for. */
    void select(int node, byte[] marks);
}
