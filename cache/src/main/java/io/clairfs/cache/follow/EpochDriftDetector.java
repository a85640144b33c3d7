package io.clairfs.cache.follow;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import org.jspecify.annotations.Nullable;

/**
 * Judges whether a trainer that follows a predicted order is in the epoch that the job says. A trainer that was not told of the new epoch,
 * for instance, reads the last one again. Not thread-safe.
 */
final class EpochDriftDetector {
    private final JobSpec spec;

    /** The number of last reads that tell whether the trainer follows an order. */
    private final int memory;

    private final boolean goesOn;
    private long readsInOrder;
    private long readsElsewhere;
    private long readsAstray;

    /** Whether reports of reads were lost, so that the trainer may be anywhere. */
    private boolean unknown;

    /** Whether a rank's trainer was found since. */
    private boolean foundSince;

    /** Set while the trainer is followed through an epoch that is not the one the job says. */
    private JobProgress.@Nullable Astray astray;

    /** {@code goesOn} says that the trainer began before, and has gone on reading since the position that is known. */
    EpochDriftDetector(JobSpec spec, int memory, boolean goesOn) {
        this.spec = spec;
        this.memory = memory;
        this.goesOn = goesOn;
    }

    JobProgress.@Nullable Astray astray() {
        return astray;
    }

    /** Reads in an epoch that was not the one the job said. */
    long readsAstray() {
        return readsAstray;
    }

    /** A read in an epoch. */
    void read(int epoch, boolean inSync) {
        readsInOrder = inSync ? readsInOrder + 1 : 0;
        unknown &= readsInOrder <= memory;
        if (astray == null) {
            return;
        }
        if (epoch == astray.epoch()) {
            readsAstray++;
            readsElsewhere = 0;
        } else if (++readsElsewhere > memory && inSync && astray.epoch() < astray.expected()) {
            astray = null; // it goes on with the next epoch after all
        }
    }

    /** Reports of reads were lost: where the trainer is found next was not predicted. */
    void reportsLost() {
        unknown = true;
        foundSince = false;
        readsInOrder = 0;
    }

    /** Whether reports of reads were lost and the trainer was not found since: the position of its stream is where it may be at most. */
    boolean isUnknown() {
        return unknown;
    }

    /** A search is over. Until then what it found is of several ranks, and nothing was known of any. */
    void searched() {
        unknown &= !foundSince;
    }

    /**
     * The trainer was found at {@code to} rather than at {@code from}, as predicted.
     *
     * @param readsSince how many reads of its rank there were since it was last where it was predicted; it may have read far before it was found
     * @param length how many samples its rank reads in the epoch of {@code to}
     * @param reads how many reads there were in all
     * @param readThere how many of the last of them were there
     */
    void found(long from, long to, long readsSince, int length, long reads, int readThere) {
        astray = wrongEpoch(from, to, readsSince - readThere, length, reads);
        foundSince = true;
        readsElsewhere = 0;
        if (astray != null) {
            readsAstray += readThere;
        }
    }

    /**
     * Whether the epoch in which a trainer was found contradicts the job: the last one again in place of the next, or from the very start a
     * later one than the first. A restart, a resume in the middle, or an epoch left early does not.
     *
     * @param readsBefore how many reads of the rank since then came before those at {@code to} and behind it
     */
    private JobProgress.@Nullable Astray wrongEpoch(long from, long to, long readsBefore, int length, long reads) {
        if (from == AccessStream.END) {
            return null;
        }
        int epoch = AccessStream.epoch(to);
        if (unknown) {
            return astray != null && astray.epoch() == epoch ? astray : null;
        }
        if (AccessStream.step(to) - readsBefore > 2L * memory) {
            return null; // it did not begin at the beginning
        }
        int expected = astray == null ? AccessStream.epoch(from) : astray.expected();
        boolean again = epoch == expected - 1 && AccessStream.step(from) < length / 2;
        boolean fromTheStart = !goesOn && readsInOrder < memory && reads <= 4L * memory && epoch > expected;
        boolean restarted = epoch == spec.startEpoch() && spec.epochs() == 1;
        return (again || fromTheStart) && !restarted ? new JobProgress.Astray(epoch, expected) : null;
    }
}
