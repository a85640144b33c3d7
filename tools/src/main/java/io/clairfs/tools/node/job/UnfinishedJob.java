package io.clairfs.tools.node.job;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import java.util.Arrays;
import java.util.List;

/**
 * A job, and where its trainers are: what another process needs to go on with it.
 *
 * @param positions of the ranks that read here, as {@link JobRun#positions} tells; empty for a job that has not begun
 * @param isFound whether no user wrote it
 */
public record UnfinishedJob(JobSpec spec, long[] positions, boolean isFound) {

    /** Whether these are the same jobs, in the same order, with their trainers in the same places. */
    public static boolean areSame(List<UnfinishedJob> some, List<UnfinishedJob> others) {
        if (some.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < some.size(); i++) {
            if (!some.get(i).isSame(others.get(i))) {
                return false;
            }
        }
        return true;
    }

    private boolean isSame(UnfinishedJob other) {
        return isFound == other.isFound && Arrays.equals(positions, other.positions) && spec.equals(other.spec);
    }
}
