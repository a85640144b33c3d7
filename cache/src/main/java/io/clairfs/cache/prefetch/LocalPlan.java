package io.clairfs.cache.prefetch;

/** Which tier of this node is to hold a sample; the part of a placement that concerns this node. Immutable, any thread. */
@FunctionalInterface
public interface LocalPlan {
    /** In place of a tier: this node is not to hold it. */
    int NOWHERE = -1;

    /** In place of a tier: the first that has room; the plan is still being made. */
    int ANYWHERE = -2;

    /** No job, no plan. */
    LocalPlan NONE = _ -> NOWHERE;

    /** What is read is kept as long as there is room: right for one node, and a start for several. */
    LocalPlan WHILE_ROOM = _ -> ANYWHERE;

    /** The tier's place among this node's tiers, fastest first, or one of the two constants. */
    int tierOf(int file);
}
