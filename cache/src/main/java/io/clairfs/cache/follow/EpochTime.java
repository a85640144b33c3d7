package io.clairfs.cache.follow;

import io.clairfs.cache.status.NodeTraffic;

/**
 * How long one epoch of a job took on this node, and what of it was waiting for data.
 *
 * @param epoch counted from 0
 * @param seconds from the first request or close of one of its samples to the last; if trainers told, what the epoch took in their loops
 * @param samples of it that the ranks here were seen to read
 * @param readerWaitSeconds in which at least one of their readers waited for an answer of the daemon
 * @param waitedSeconds that the trainers waited for data, at most
 * @param waitedAtLeastSeconds the same, at least
 * @param isTold whether trainers told it: both are the mean over those who did
 * @param traffic what the node read and fetched, for all jobs, since the last read of the epoch before
 */
public record EpochTime(
        int epoch,
        double seconds,
        int samples,
        double readerWaitSeconds,
        double waitedSeconds,
        double waitedAtLeastSeconds,
        boolean isTold,
        NodeTraffic traffic) {

    /**
     * Accelerator utilisation, at least: the share of the epoch in which trainers did not wait for data; 1 for an epoch that took no time. DLIO
     * (Devarajan et al., CCGRID 2021) divides the time of computation by that of the epoch.
     */
    public double utilisation() {
        return seconds > 0 ? 1 - waitedSeconds / seconds : 1;
    }
}
