package io.clairfs.cache.follow;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StreamWindow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the loaders of a job's trainers are in their streams: around the middle of the last reads that were in order. Not thread-safe.
 */
final class LoaderPositions {
    private static final int DEFAULT_REACH = 512;
    private static final int FEW_READS = 6;

    /** What is so close to the last reads is read next, whatever the batch, positions. */
    private static final int IN_STEP = 8;

    private final List<StreamWindow> windows;
    private final SyncDetector syncDetector;

    /** Samples per rank and step; 0 if not known. */
    private final int batch;

    /** How many positions may lie between concurrent reads of one rank's loaders. */
    private final int reach;

    /** The same, but no more than half of an epoch: what is farther may as well be another read in the same epoch. */
    private final int withinEpoch;

    /** By so many positions the centres may lag behind. */
    private int lag;

    /** The middle of the loaders of each stream, as sequence numbers. */
    private final long[] centres;

    /**
     * At the heads of the windows.
     *
     * @param usualLength how many samples a rank reads in an epoch
     * @param lag by how many positions the centres may lag behind the loaders
     */
    LoaderPositions(JobSpec spec, List<StreamWindow> windows, SyncDetector syncDetector, int usualLength, int lag) {
        this.windows = windows;
        this.syncDetector = syncDetector;
        this.lag = lag;
        batch = spec.batch();
        reach = reach(spec);
        withinEpoch = Math.min(reach, usualLength / 2);
        centres = windows.stream().mapToLong(StreamWindow::headSequence).toArray();
    }

    /** From the job's settings, else enough for a good many workers. */
    private static int reach(JobSpec spec) {
        if (spec.window() > 0 && spec.keys().containsKey("workers")) {
            return Math.min(spec.window() + spec.batch(), StreamWindow.RECOGNISED_AHEAD / 2);
        }
        return Math.clamp(16L * spec.batch(), DEFAULT_REACH / 2, DEFAULT_REACH * 4);
    }

    /** How many positions may lie between concurrent reads of one rank's loaders. */
    int reach() {
        return reach;
    }

    /** The middle of the loaders of each stream, as sequence numbers. */
    long[] centres() {
        return centres.clone();
    }

    /** The middle of the loaders of this stream, as a sequence number. */
    long centre(int stream) {
        return centres[stream];
    }

    /** The loaders of this stream were found elsewhere. */
    void moveTo(int stream, long sequence) {
        centres[stream] = sequence;
    }

    /** The centres may lag behind by so many positions. */
    void mayLagBehind(int positions) {
        lag = Math.max(lag, positions);
    }

    /** The position of a stream at which it reads this file that is nearest to its loaders; null if none is in its window. */
    StreamWindow.@Nullable Slot nearest(int stream, int file) {
        return windows.get(stream).nearest(file, centres[stream]);
    }

    /** The position of a stream that is nearest to where its trainer is; when that was read already, the next one if the loaders reach it. */
    StreamWindow.@Nullable Slot next(int stream, int file) {
        StreamWindow.Slot slot = nearest(stream, file);
        StreamWindow.Slot next =
                slot == null || !slot.isRead() ? null : windows.get(stream).unreadAfter(slot);
        return next != null && fromLastReads(stream, next) <= withinEpoch ? next : slot;
    }

    /**
     * Whether a read is rather at this place of a stream than at another. A place that the loaders are about to read comes first; of two, the one
     * in the earlier epoch, for ranks go on to the next one together.
     */
    boolean isLikelier(int stream, StreamWindow.Slot slot, int otherStream, StreamWindow.Slot other) {
        boolean isAwaited = isUnreadAndNear(stream, slot);
        if (isAwaited != isUnreadAndNear(otherStream, other)) {
            return isAwaited;
        }
        if (!isAwaited) {
            return distance(stream, slot) < distance(otherStream, other);
        }
        int epoch = AccessStream.epoch(slot.position);
        int otherEpoch = AccessStream.epoch(other.position);
        long fromLast = fromLastReads(stream, slot);
        long otherFromLast = fromLastReads(otherStream, other);
        long ofEarlier = epoch < otherEpoch ? fromLast : otherFromLast;
        boolean isEarlierReached = epoch != otherEpoch && ofEarlier <= Math.max(batch, IN_STEP);
        return isEarlierReached ? epoch < otherEpoch : fromLast < otherFromLast;
    }

    private long distance(int stream, StreamWindow.Slot slot) {
        return Math.abs(slot.sequence - centres[stream]);
    }

    /** Whether the trainer's loaders may be there now. */
    boolean isNear(int stream, StreamWindow.Slot slot) {
        return distance(stream, slot) <= reach + lag;
    }

    /**
     * How far from the last reads of a trainer it will read this file, positions; {@link JobRun#NOT_EXPECTED} if none is about to. Loaders work
     * side by side, each in order, so the next read is close to one of the last, and perhaps far from the middle of all.
     */
    long distance(int file) {
        long least = JobRun.NOT_EXPECTED;
        for (int i = 0; i < windows.size(); i++) {
            StreamWindow.Slot slot = nearest(i, file);
            if (slot != null && isUnreadAndNear(i, slot)) {
                least = Math.min(least, fromLastReads(i, slot));
            }
        }
        return least;
    }

    boolean isUnreadAndNear(int stream, StreamWindow.Slot slot) {
        return !slot.isRead() && isNear(stream, slot);
    }

    long fromLastReads(int stream, StreamWindow.Slot slot) {
        return Math.min(distance(stream, slot), syncDetector.lastReads(stream).fromNearest(slot.sequence));
    }

    /**
     * Moves the centre of a stream to the middle of its orderly reads. Positions farther behind it than loaders reach were read unseen, or
     * will not be read.
     */
    void follow(int stream) throws InvalidSpecException {
        if (!syncDetector.inSync()) {
            return;
        }
        LastReads reads = syncDetector.lastReads(stream);
        int count = reads.orderlyCount();
        StreamWindow window = windows.get(stream);
        if (count < FEW_READS) {
            return;
        }
        centres[stream] = reads.orderly(count / 2);
        if (centres[stream] - window.headSequence() > reach) {
            window.readUpTo(reads.orderly(0) - 1);
            for (int i = 0; i < count; i++) {
                window.read(reads.orderly(i));
            }
        }
    }
}
