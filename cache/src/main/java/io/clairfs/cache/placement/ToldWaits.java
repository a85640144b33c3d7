package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Why jobs wait for their next orders, as users were told. A file system that is slow to answer gives one reason and another by turns: that the file is not
 * there, and that it is still being looked at. Each is told once in a wait.
 *
 * <p>Not thread-safe.
 */
final class ToldWaits {
    /** Reasons of one wait; further ones are not told. */
    private static final int MOST = 100;

    private final Map<JobRun, Set<String>> told = new HashMap<>();

    /** Whether users have to be told this reason why {@code job} waits; null where it does not wait, which ends its wait. */
    boolean isNews(JobRun job, @Nullable String reason) {
        if (reason == null) {
            var _ = told.remove(job);
            return false;
        }
        Set<String> ofJob = told.computeIfAbsent(job, _ -> new HashSet<>());
        return ofJob.size() < MOST && ofJob.add(reason);
    }

    /** Forgets jobs that are not among these. */
    void forgetOthersThan(Collection<JobRun> jobs) {
        told.keySet().retainAll(jobs);
    }
}
