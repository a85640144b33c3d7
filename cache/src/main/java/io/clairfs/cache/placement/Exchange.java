package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntToLongFunction;

/**
 * What this node exchanges with others while an epoch runs, where samples move with their readers: it receives what its ranks read in the
 * next epoch and not in this one, and sends what they read in this one only. Partial local shuffling (Nguyen et al., IPDPS 2022, section
 * III-C) exchanges Q b samples per iteration; here they come as soon as there is room. Immutable, any thread.
 */
public final class Exchange {
    private final JobRun job;
    private final int epoch;

    /** Samples that a rank reads in the epoch. */
    private final int length;

    private final int[] receives;
    private final int[] sends;

    private Exchange(JobRun job, int epoch, int length, int[] receives, int[] sends) {
        this.job = job;
        this.epoch = epoch;
        this.length = length;
        this.receives = receives;
        this.sends = sends;
    }

    /**
     * The exchange of the ranks that read here, for the epoch after {@code epoch}.
     *
     * @throws InvalidSpecException when one of the two orders cannot be computed
     */
    static Exchange after(int epoch, JobRun job) throws InvalidSpecException {
        int[] ranks = FillOrders.Reading.here(job, 0).ranks();
        BitSet now = read(job, epoch, ranks);
        BitSet next = read(job, epoch + 1, ranks);
        BitSet receives = (BitSet) next.clone();
        receives.andNot(now);
        now.andNot(next);
        EpochOrder order = job.plannerOrders().peek(epoch);
        int length = Arrays.stream(ranks).map(order::length).max().orElse(0);
        return new Exchange(
                job, epoch, length, receives.stream().toArray(), now.stream().toArray());
    }

    /** The files that these ranks read in an epoch. */
    private static BitSet read(JobRun job, int epoch, int[] ranks) throws InvalidSpecException {
        EpochOrder order = job.plannerOrders().peek(epoch);
        BitSet files = new BitSet();
        for (int rank : ranks) {
            for (int step = 0; step < order.length(rank); step++) {
                int file = job.index().file(order.sample(rank, step));
                if (file != SampleIndex.NO_FILE) {
                    files.set(file);
                }
            }
        }
        return files;
    }

    /**
     * How far it has come.
     *
     * @param epoch for which samples come
     * @param receives samples that this node gets for it
     * @param received those that are here
     * @param receivedBytes their bytes
     * @param sends samples that this node reads now and others read then
     * @param sent those that another node is known to have
     * @param behind how many fewer have come than would at an even pace, by how much of the epoch the hindmost rank has read
     */
    public record Progress(
            int epoch, int receives, int received, long receivedBytes, int sends, int sent, int behind) {}

    /** The job whose samples move. */
    public JobRun job() {
        return job;
    }

    /** How far it has come by now. */
    public Progress progress(ResidentSamples residents, IntToLongFunction bytesOf) {
        int received = 0;
        long bytes = 0;
        for (int file : receives) {
            if (residents.isHere(file)) {
                received++;
                bytes += bytesOf.applyAsLong(file);
            }
        }
        int sent = 0;
        for (int file : sends) {
            sent += residents.isElsewhere(file) ? 1 : 0;
        }
        int even = (int) (shareRead() * receives.length);
        return new Progress(
                epoch + 1, receives.length, received, bytes, sends.length, sent, Math.max(0, even - received));
    }

    /** How much of the epoch the hindmost rank has read. */
    private double shareRead() {
        long position = job.position();
        if (position < AccessStream.position(epoch, 0)) {
            return 0;
        }
        return AccessStream.epoch(position) > epoch ? 1 : Math.min(1, (double) AccessStream.step(position) / length);
    }
}
