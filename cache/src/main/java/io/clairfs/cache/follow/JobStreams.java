package io.clairfs.cache.follow;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.stage.StagedCount;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The streams of all ranks of a job on this node, a {@link RankStream} each: where they are together, and how much of them is staged.
 *
 * <p>Not thread-safe: the lock of the {@link JobRun} guards it, except for {@link #count} and {@link #get}. The job's {@link TrainerFollower}
 * and a {@link StreamSearch} move the same windows under the same lock.
 */
final class JobStreams {
    private final JobSpec spec;
    private final JobStart start;
    private final List<RankStream> streams = new ArrayList<>();
    private final List<StreamWindow> windows = new ArrayList<>();

    /** What is staged for all of them. */
    private final StagedCount staged;

    JobStreams(
            JobRun job,
            JobSpec spec,
            JobStart start,
            EpochOrders orders,
            SampleIndex index,
            DatasetTree tree,
            StagingBuffer staging,
            LongSupplier clockNs)
            throws InvalidSpecException {
        this.spec = spec;
        this.start = start;
        for (int rank = spec.firstRank(); rank <= spec.lastRank(); rank++) {
            long from = start.positionOf(rank - spec.firstRank());
            AccessStream stream = new AccessStream(orders, rank, spec.epochs());
            StreamWindow window = new StreamWindow(stream, index, tree, staging, from);
            windows.add(window);
            streams.add(new RankStream(job, window, clockNs));
        }
        extendTogether();
        staged = streams.size() == 1 ? streams.getFirst().staged() : new StagedCount(windows, clockNs);
    }

    /** Extends all windows epoch by epoch, so that each order is computed once for all ranks, however many epochs a window covers. */
    private void extendTogether() throws InvalidSpecException {
        boolean more = true;
        long first = hindmost();
        for (int epoch = AccessStream.epoch(Math.min(first, AccessStream.position(spec.epochs(), 0))); more; epoch++) {
            more = false;
            for (StreamWindow window : windows) {
                more |= window.extend(epoch);
            }
        }
    }

    /** How many there are; needs no lock. */
    int count() {
        return streams.size();
    }

    /** One of them, in the order of the ranks; needs no lock. */
    RankStream get(int stream) {
        return streams.get(stream);
    }

    /** The windows of all, in the order of the ranks. */
    List<StreamWindow> windows() {
        return windows;
    }

    /** The position of the hindmost rank; {@link AccessStream#END} when all is read. Where no rank reads here, that where the job begins. */
    long hindmost() {
        return windows.stream().mapToLong(StreamWindow::position).min().orElse(start.position());
    }

    /** The position of each rank, in the order of the ranks; {@link AccessStream#END} where all is read. */
    long[] positions() {
        return windows.stream().mapToLong(StreamWindow::position).toArray();
    }

    /** The epoch that the first rank is in; the number of epochs when all is read. Where no rank reads here, that in which the job begins. */
    int epoch() {
        if (windows.isEmpty()) {
            return AccessStream.epoch(start.position());
        }
        long position = windows.getFirst().position();
        return position == AccessStream.END ? spec.epochs() : AccessStream.epoch(position);
    }

    /** How many samples the first rank reads in the epoch that it is in, or read in the last one; 0 behind the end of an endless job. */
    int length() throws InvalidSpecException {
        StreamWindow first = windows.getFirst();
        boolean done = first.position() == AccessStream.END;
        if (done && spec.epochs() == JobSpec.UNLIMITED) {
            return 0;
        }
        try {
            return first.stream().length(done ? spec.epochs() - 1 : epoch());
        } catch (OrderNotReadyException gone) { // as that of a finished epoch, for a process that goes on
            return start.usualLength();
        }
    }

    /** The next epoch if the ranks will soon be staged from it; else -1. */
    int epochToPrepare() {
        long least =
                windows.stream().mapToLong(StreamWindow::tailPosition).min().orElse(AccessStream.END);
        long most = windows.stream().mapToLong(StreamWindow::tailPosition).max().orElse(AccessStream.END);
        if (most == AccessStream.END || AccessStream.epoch(least) != AccessStream.epoch(most)) {
            return -1;
        }
        int next = AccessStream.epoch(most) + 1;
        if (next >= spec.epochs() || AccessStream.step(least) < start.usualLength() / 2) {
            return -1; // it would only take memory
        }
        return next;
    }

    /** Why the order of the next epoch is not ready though a rank has read all before it; null when no rank waits for it. */
    @Nullable
    String awaitedOrder() {
        return windows.stream()
                .map(StreamWindow::awaitedOrder)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** How many samples are staged before the trainers of all ranks, each sample once. */
    int stagedAhead() {
        return staged.samples();
    }

    /** Leaves some positions of each unstaged from now on. */
    void leaveTracers() {
        windows.forEach(StreamWindow::leaveTracers);
    }

    /** Ticks off, in the stream that comes to this file first, all that its trainer's loaders cannot still have before them. */
    void reached(int file) throws InvalidSpecException {
        StreamWindow nearest = null;
        long sequence = Long.MAX_VALUE;
        long distance = Long.MAX_VALUE;
        for (StreamWindow window : windows) {
            StreamWindow.Slot slot = window.nearest(file, window.headSequence());
            if (slot != null && Math.abs(slot.sequence - window.headSequence()) < distance) {
                nearest = window;
                sequence = slot.sequence;
                distance = Math.abs(sequence - window.headSequence());
            }
        }
        if (nearest != null) {
            nearest.readUpTo(sequence - Math.max(1, spec.window()));
        }
    }

    /** Ticks off whatever is staged. */
    void readAllStaged() throws InvalidSpecException {
        for (StreamWindow window : windows) {
            window.readUpTo(window.stagedUpTo() - 1);
        }
    }

    /** Releases everything that is staged. */
    void close() {
        streams.forEach(RankStream::close);
    }
}
