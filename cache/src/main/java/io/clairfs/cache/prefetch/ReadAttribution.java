package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import java.util.List;

/**
 * Decides which job's trainer made a read, for a report of a read names a file and no process.
 *
 * <p>Of several trainings over the same samples it is the one that is nearest to the sample in its order and has not read it yet. To the others
 * it would look like a trainer that has left its order, so they only hear that somebody else has read it. A read that none of them is about to
 * make concerns all. See docs/decisions/several-trainings.md.
 *
 * <p>Has no lock; takes that of one job after another.
 */
final class ReadAttribution {
    private final List<JobRun> jobs;

    /** A read of a job's trainer. */
    @FunctionalInterface
    interface Reading {
        void read(JobRun job, int file);
    }

    /** Among these jobs, which may come and go. */
    ReadAttribution(List<JobRun> jobs) {
        this.jobs = jobs;
    }

    /** The jobs that a read of this file concerns. */
    List<JobRun> jobsOf(int file) {
        if (jobs.size() <= 1) {
            return jobs;
        }
        JobRun nearest = null;
        long least = JobRun.NOT_EXPECTED;
        for (JobRun job : jobs) {
            long distance = job.distance(file);
            if (distance < least) {
                nearest = job;
                least = distance;
            }
        }
        return nearest == null ? jobs : List.of(nearest);
    }

    /** Tells {@code told} the jobs that this read, which was reported, concerns, and the others that it was not theirs. */
    void read(int file, Reading told) {
        List<JobRun> readers = jobsOf(file);
        readers.forEach(job -> told.read(job, file));
        for (JobRun job : jobs) {
            if (!readers.contains(job)) {
                job.readBeside(file);
            }
        }
    }
}
