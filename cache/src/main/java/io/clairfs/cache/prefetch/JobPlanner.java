package io.clairfs.cache.prefetch;

import io.clairfs.cache.order.InvalidSpecException;
import java.util.List;

/** Makes the plan of this node for the jobs that run; takes its time. */
@FunctionalInterface
public interface JobPlanner {
    LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException;

    /** What to do until the first plan is there. */
    default LocalPlan meanwhile() {
        return LocalPlan.WHILE_ROOM;
    }
}
