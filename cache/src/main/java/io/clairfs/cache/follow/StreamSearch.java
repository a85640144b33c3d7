package io.clairfs.cache.follow;

import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StreamWindow;
import java.util.List;
import java.util.function.LongSupplier;

/** One search for the trainer of a job, from {@link TrainerFollower#wantsSearch} to {@link TrainerFollower#searchEnded}. */
final class StreamSearch {
    private final JobRun job;
    private final int startEpoch;
    private final int epochs;
    private final EpochOrders orders;
    private final List<StreamWindow> windows;
    private final TrainerFollower follower;
    private final LongSupplier clockNs;

    /**
     * A search that has begun.
     *
     * @param job its lock guards {@code windows} and {@code follower}
     * @param startEpoch of the job, where its training begins again
     * @param epochs of the job
     * @param clockNs as {@link System#nanoTime}
     */
    StreamSearch(
            JobRun job,
            int startEpoch,
            int epochs,
            EpochOrders orders,
            List<StreamWindow> windows,
            TrainerFollower follower,
            LongSupplier clockNs) {
        this.job = job;
        this.startEpoch = startEpoch;
        this.epochs = epochs;
        this.orders = orders;
        this.windows = windows;
        this.follower = follower;
        this.clockNs = clockNs;
    }

    /** Moves the streams to where their trainers are. Returns whether one was found. */
    boolean run() throws InvalidSpecException {
        try {
            int[] samples;
            int epoch;
            synchronized (job) {
                samples = follower.lastRead();
                long position = windows.getFirst().position();
                epoch = position == AccessStream.END ? epochs - 1 : AccessStream.epoch(position);
            }
            boolean found = TrainerSearch.nearestFirst(
                    epoch, startEpoch, epochs, clockNs, candidate -> isIn(candidate, samples));
            synchronized (job) {
                follower.searched(found);
            }
            return found;
        } finally {
            follower.searchEnded();
        }
    }

    /** Whether a trainer that has read these samples is in this epoch; its stream goes on from there. */
    private boolean isIn(int epoch, int[] samples) throws InvalidSpecException {
        EpochOrder order;
        try {
            order = orders.peek(epoch);
        } catch (InvalidSpecException e) {
            return false; // nobody reads it yet, or ever: a job ends where its trainer comes to an invalid order
        }
        boolean found = false;
        for (int stream = 0; stream < windows.size(); stream++) {
            PositionSearch.Found place = PositionSearch.inEpoch(windows.get(stream).stream(), order, epoch, samples);
            if (place != null) {
                if (!found) {
                    orders.keep(epoch, order);
                }
                found = true;
                synchronized (job) {
                    follower.moveTo(stream, place, order);
                }
            }
        }
        return found;
    }
}
