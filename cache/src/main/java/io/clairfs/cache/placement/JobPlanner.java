package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.List;

/** Makes the plan of this node for the jobs that run; takes its time. */
@FunctionalInterface
public interface JobPlanner {
    LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException;

    /** The same plan, for trainers that have gone on elsewhere: what they need first is filled first. */
    default LocalPlan refilled(LocalPlan plan) throws InvalidSpecException {
        return plan;
    }

    /** What to do until the first plan is there. */
    default LocalPlan meanwhile() {
        return LocalPlan.WHILE_ROOM;
    }
}
