package io.clairfs.tools.node.job;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;

/**
 * A job, and where its trainers are: what another process needs to go on with it.
 *
 * @param positions of the ranks that read here, as {@link JobRun#positions} tells; empty for a job that has not begun
 * @param isFound whether no user wrote it
 */
public record UnfinishedJob(JobSpec spec, long[] positions, boolean isFound) {}
