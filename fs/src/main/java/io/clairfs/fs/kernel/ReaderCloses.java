package io.clairfs.fs.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.IntConsumer;

/**
 * Tells which reported closes are those of readers. The kernel reports a reader's close and one of this process right behind it as one,
 * which counts as a read if a reader had asked for the file. If the file is reported once more, the first report is this process's and the
 * second the reader's: that reader may have asked after the first. While more reports wait than one look takes, the second may come with a
 * later look; so a file that was reported once is decided when the queue is empty.
 *
 * <p>Only the watcher's worker uses it.
 */
final class ReaderCloses {
    private final ConsumptionWatcher.Reader reader;
    private final OwnCloses ownCloses;
    private final MemorySegment buffer;

    /** Files that a reader had asked for when a close by this process was taken, in that order. */
    private final Set<Integer> undecided = new LinkedHashSet<>();

    /** The events of a look are in {@code buffer}. */
    ReaderCloses(ConsumptionWatcher.Reader reader, OwnCloses ownCloses, MemorySegment buffer) {
        this.reader = reader;
        this.ownCloses = ownCloses;
        this.buffer = buffer;
    }

    /**
     * Whether the event at {@code at}, a close of {@code file}, is that of a reader.
     *
     * @param filled the bytes of all events of this look
     * @param isEmptied whether nothing was left in the queue
     */
    boolean isRead(int file, long at, long filled, boolean isEmptied) {
        if (reader.isAsked(file) && ownCloses.isAwaited(file)) {
            if (comesAgain(at, filled)) {
                return !ownCloses.take(file);
            }
            if (!isEmptied) {
                undecided.add(file);
                return !ownCloses.take(file);
            }
        }
        if (reader.takeAsked(file)) {
            boolean _ = undecided.remove(file);
            return true;
        }
        return !ownCloses.take(file);
    }

    /** Whether the file of the event at {@code at} is closed once more behind it. */
    private boolean comesAgain(long at, long filled) {
        long bytes = bytes(at);
        for (long next = at + bytes; next < filled; next += bytes(next)) {
            if (next + bytes <= filled
                    && MemorySegment.mismatch(buffer, at, at + bytes, buffer, next, next + bytes) < 0) {
                return true;
            }
        }
        return false;
    }

    private long bytes(long at) {
        return (long) ConsumptionWatcher.EVENT_BYTES + buffer.get(JAVA_INT, at + 12);
    }

    /** Nothing is left in the queue. Passes the files to {@code read} whose one report was a reader's as well. */
    void emptied(IntConsumer read) {
        for (int file : undecided) {
            if (reader.takeAsked(file)) {
                read.accept(file);
            }
        }
        undecided.clear();
    }
}
