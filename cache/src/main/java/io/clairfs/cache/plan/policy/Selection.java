package io.clairfs.cache.plan.policy;

/** The samples that a node keeps, before their classes are chosen. */
public interface Selection {
    /** A mark that is no class. */
    byte SELECTED = -2;

    /** Marks the samples that this node keeps, no more than it can be promised room for. */
    void select(int node, byte[] marks);
}
