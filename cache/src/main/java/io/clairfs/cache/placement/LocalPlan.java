package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Which tier of this node should hold each sample: the part of a placement that concerns this node. Immutable, any thread. */
@FunctionalInterface
public interface LocalPlan {
    /** In place of a tier: this node should not hold it. */
    int NOWHERE = -1;

    /** In place of a tier: the first that has room; the plan is still being made. */
    int ANYWHERE = -2;

    /** No job, no plan. */
    LocalPlan NONE = _ -> NOWHERE;

    /**
     * The plan waits for other nodes: memory keeps only what no other node has, until its home gets it there, and nothing should be fetched
     * ahead for long.
     */
    LocalPlan PENDING = new LocalPlan() {
        @Override
        public int tierOf(int file) {
            return NOWHERE;
        }

        @Override
        public boolean isPending() {
            return true;
        }
    };

    /** Samples that are read are kept while there is room: right for one node, and a start for several. */
    LocalPlan WHILE_ROOM = new LocalPlan() {
        @Override
        public int tierOf(int file) {
            return ANYWHERE;
        }

        @Override
        public boolean isMeanwhile() {
            return true;
        }
    };

    /** The tier's place among this node's tiers, fastest first, or one of the two constants. */
    int tierOf(int file);

    /** Whether this plan wants the sample in this tier. */
    default boolean wants(int file, int tier) {
        int wanted = tierOf(file);
        return wanted == tier || wanted == ANYWHERE;
    }

    /** The tier that should hold the sample: by the plan, as a replica kept by next use, or between trainings. */
    default int keptIn(int file) {
        ReplicaSpace copies = copies();
        BetweenTrainings between = between();
        int wanted = tierOf(file);
        if (wanted == NOWHERE && between != null && between.keeps(file)) {
            return ResidentSamples.MEMORY;
        }
        return wanted == NOWHERE && copies != null ? copies.tierOf(file) : wanted;
    }

    /** Whether this tier should not hold the sample: neither by the plan, nor as a replica, nor between trainings. */
    default boolean isUnwanted(int file, int tier) {
        int wanted = keptIn(file);
        return wanted != tier && wanted != ANYWHERE;
    }

    /** The files to fill a tier with, in this order; not to be changed. Fillers pass over those that are there already. */
    default int[] fillOrder(int tier) {
        return new int[0];
    }

    /** The owner of the sample, of the nodes that plan together; null for none. */
    default @Nullable UUID homeOf(int file) {
        return null;
    }

    /** The room that is filled by next use with replicas; null where the plan names all samples itself. */
    default @Nullable ReplicaSpace copies() {
        return null;
    }

    /** The room for what one training has fetched and another reads soon; null where there is none. */
    default @Nullable BetweenTrainings between() {
        return null;
    }

    /** What comes from other nodes and goes to them for the next epoch; null where samples do not move with their readers. */
    default @Nullable Exchange exchange() {
        return null;
    }

    /** Whether this is a plan for what the job reads, rather than one from before it began. */
    default boolean covers(JobRun job) {
        return !isMeanwhile() && !isPending();
    }

    /** The jobs that this plan is made without, because their orders are not there now: one line for each, with the reason. */
    default List<String> leftOut() {
        return List.of();
    }

    /** Whether it is time for another plan, though nothing has changed. */
    default boolean isStale() {
        ReplicaSpace copies = copies();
        BetweenTrainings between = between();
        return (copies != null && copies.isStale()) || (between != null && between.isStale());
    }

    /** A checksum, the same for all nodes that have made the same plan; 0 where a node plans for itself. */
    default long digest() {
        return 0;
    }

    /** Whether this stands in on a node that has no plan yet, or finds none. */
    default boolean isMeanwhile() {
        return false;
    }

    /** Whether this only stands for a plan that is still to come. */
    default boolean isPending() {
        return false;
    }
}
