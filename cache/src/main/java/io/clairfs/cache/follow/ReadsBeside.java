package io.clairfs.cache.follow;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StreamWindow;
import it.unimi.dsi.fastutil.ints.IntLinkedOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntListIterator;
import java.util.List;

/**
 * Reads of two trainings that inotify reports as one: another job's trainer has closed a file when this one was about to read it.
 *
 * <p>When this one closes it right afterwards there is no second report. So if it then reads what is behind the file, it has read the file. That
 * may go on for many reads, each close to the one before. Not thread-safe.
 */
final class ReadsBeside {
    /** How far a trainer may be from the read of another for one report to be of both, positions. */
    private static final int IN_STEP = 8;

    private final List<StreamWindow> windows;
    private final SyncDetector syncDetector;
    private final int reach;

    /** Files that the other has closed; the latest at the end. */
    private final IntLinkedOpenHashSet files = new IntLinkedOpenHashSet();

    /** Where each stream's trainer is if it has read the latest of them, as sequence numbers. */
    private final long[] at;

    /**
     * None yet.
     *
     * @param reach how many positions may lie between concurrent reads of one rank's loaders
     * @param at where the trainer of each stream is, as sequence numbers
     */
    ReadsBeside(List<StreamWindow> windows, SyncDetector syncDetector, int reach, long[] at) {
        this.windows = windows;
        this.syncDetector = syncDetector;
        this.reach = reach;
        this.at = at.clone();
    }

    /**
     * The other trainer has closed a file that this one, in this stream, is about to read.
     *
     * @param fromLastReads how far its position is from the last reads of the stream
     */
    void closed(int file, int stream, long sequence, long fromLastReads) {
        if (Math.min(fromLastReads, Math.abs(sequence - at[stream])) <= IN_STEP) {
            at[stream] = sequence;
            files.addAndMoveToLast(file);
            if (files.size() > reach) {
                files.removeFirstInt();
            }
        }
    }

    /** Ticks off what the trainer of this stream has read unseen up to this place, which it has read. */
    void tickOff(int stream, long sequence) throws InvalidSpecException {
        StreamWindow window = windows.get(stream);
        for (IntListIterator each = files.iterator(); each.hasNext(); ) {
            StreamWindow.Slot slot = window.nearest(each.nextInt(), sequence);
            if (slot != null && slot.sequence <= sequence && sequence - slot.sequence <= reach) {
                if (window.read(slot.sequence)) {
                    syncDetector.readAt(stream, slot.sequence);
                }
                each.remove();
            }
        }
        if (at[stream] > sequence + IN_STEP) { // the other one is ahead, and this one has only stood still
            files.clear();
            at[stream] = sequence;
        }
    }

    /** The trainer of this stream was found elsewhere. */
    void moved(int stream, long sequence) {
        at[stream] = sequence;
    }
}
