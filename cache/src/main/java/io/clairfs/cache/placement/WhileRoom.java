package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.List;

/**
 * Stands in for a plan that is being made: samples that are read are kept while there is room, and tiers are filled with what the ranks of
 * this node read in the present epochs of their trainers, no further.
 */
public final class WhileRoom implements LocalPlan {
    private final List<JobRun> jobs;
    private final int[] epochs;
    private final int[] order;

    private WhileRoom(List<JobRun> jobs, int[] epochs, int[] order) {
        this.jobs = jobs;
        this.epochs = epochs;
        this.order = order;
    }

    /** The stand-in for these jobs, from where their trainers are now. */
    public static WhileRoom of(List<JobRun> jobs) throws InvalidSpecException {
        int[] epochs = jobs.stream().mapToInt(JobRun::epoch).toArray();
        return new WhileRoom(List.copyOf(jobs), epochs, FillOrders.ofThisEpoch(jobs));
    }

    @Override
    public int tierOf(int file) {
        return ANYWHERE;
    }

    @Override
    public boolean isMeanwhile() {
        return true;
    }

    @Override
    public int[] fillOrder(int tier) {
        return isOver() ? new int[0] : order;
    }

    /** Whether a trainer has left its epoch. */
    boolean isOver() {
        for (int i = 0; i < epochs.length; i++) {
            if (jobs.get(i).epoch() != epochs[i]) {
                return true;
            }
        }
        return false;
    }
}
