package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.List;

/** Makes the plan of this node for the running jobs; may take a while. */
@FunctionalInterface
public interface JobPlanner {
    LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException;

    /** The same plan, filled first with what trainers that moved need first; by default, the plan as it is. */
    default LocalPlan refilled(LocalPlan plan) throws InvalidSpecException {
        return plan;
    }

    /** The plan until the first one is made. */
    default LocalPlan meanwhile() {
        return LocalPlan.WHILE_ROOM;
    }
}
