package io.clairfs.cache.stage;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import it.unimi.dsi.fastutil.longs.LongRBTreeSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The part of one rank's access stream that lies before the trainer: what to stage next, and what has been read.
 *
 * <p>The window begins at the first position that has not been read. The trainer's loaders read ahead of it and of each other, so positions
 * are read in a slightly different order; each is ticked off by itself.
 *
 * <p>Numbering: {@code sequence} counts the positions of this stream since the last jump, without gaps across epochs.
 *
 * <p>Life cycle: its job makes it, one for each rank, and closes it with itself. Not thread-safe: the lock of the job guards it. The locks
 * of the staging buffer and of the orders are taken inside; samples that have to leave are dropped later, by the loader, without them.
 */
public final class StreamWindow {
    /** How far ahead of the trainer a read is recognised, positions, however small the staging buffer is. */
    public static final int RECOGNISED_AHEAD = 4096;

    /** The gap in the numbering at a jump, so that reads before it are never neighbours of reads after it. */
    private static final int JUMP_GAP = 1024;

    /**
     * So many positions behind one that a reader had to ask for are left to it if they are in memory: the reader comes there before they
     * could be staged.
     */
    private static final int LEFT_AHEAD = 16;

    /** Where reads are not reported, one position in so many is left unstaged, for the reader to ask for: a tracer. */
    public static final int TRACER_EVERY = 16;

    private final AccessStream stream;
    private final SampleIndex index;
    private final DatasetTree tree;
    private final StagingBuffer staging;

    /** The most positions staged ahead: the budget has room for many epochs of small samples, and each position takes memory. */
    private final long mostAhead;

    private final SlotRing slots = new SlotRing(2 * RECOGNISED_AHEAD);
    private long begin;
    private long head;
    private long toStage;

    /** The end of the positions that may have room: beyond {@link #toStage} when earlier positions are staged once more. */
    private long placedTo;

    private long tail;

    /** The first position behind the window, or the one after its last where the next epoch was not looked at yet. */
    private long tailPosition;

    /** The last epoch in which a position in the window, or before it, has a file. */
    private int lastWithFile;

    /** Positions whose samples were staged and lost, in the order of reading, whenever the loss was found. */
    private final LongRBTreeSet lost = new LongRBTreeSet();

    private @Nullable String notReady;
    private boolean tracers;
    private int stagedUnread;
    private long stagedUnreadBytes;

    public StreamWindow(AccessStream stream, SampleIndex index, DatasetTree tree, StagingBuffer staging, long start)
            throws InvalidSpecException {
        this.stream = stream;
        this.index = index;
        this.tree = tree;
        this.staging = staging;
        mostAhead = Math.max(RECOGNISED_AHEAD, 2L * index.size());
        begin(start);
        extend(AccessStream.epoch(start));
    }

    /** One position. */
    public static final class Slot {
        public final long sequence;
        public final long position;
        final int file;
        private boolean read;

        /** Whether it is left for its reader to ask for. */
        private boolean left;

        private StagingBuffer.@Nullable Place place;

        /** The next position in the window at which the same file is read. */
        @Nullable
        Slot later;

        Slot(long sequence, long position, int file) {
            this.sequence = sequence;
            this.position = position;
            this.file = file;
        }

        /** Whether the trainer has read it, as far as is known. */
        public boolean isRead() {
            return read;
        }
    }

    /** A file to put into the staging area, its room, and the samples that have to leave first. */
    public record ToStage(int file, StagingBuffer.Place place, List<StagingBuffer.Place> leaving) {}

    public AccessStream stream() {
        return stream;
    }

    /** Leaves some positions unstaged from now on: their requests tell where the trainer is. */
    public void leaveTracers() {
        tracers = true;
    }

    /** Whether the position with this number is one of these, in a window that leaves them. */
    public static boolean isTracer(long sequence) {
        return sequence % TRACER_EVERY == 0;
    }

    /** Why the next epoch's order is not ready though everything before it was read; else null. */
    @Nullable
    public String awaitedOrder() {
        return head == tail ? notReady : null;
    }

    /** The first position beyond the window; {@link AccessStream#END} when there is none. */
    public long tailPosition() {
        return tailPosition;
    }

    /** Where the trainer is: the first unread position, or {@link AccessStream#END}. */
    public long position() {
        return head < tail ? slot(head).position : tailPosition;
    }

    public long headSequence() {
        return head;
    }

    /** Unread samples that are staged or on their way there. */
    int underWay() {
        return stagedUnread;
    }

    /**
     * Whether less than {@code bytes} of unread samples are staged or on their way, and less than that part of the buffer's places is taken, while there is
     * more to stage.
     */
    public boolean isHungry(long bytes) {
        return stagedUnreadBytes < bytes
                && stagedUnread < staging.placesOf(bytes)
                && toStage < tail
                && toStage - head < mostAhead;
    }

    /** Passes the files of the next {@code most} positions to stage to {@code each}. */
    public void forEachToStage(int most, IntConsumer each) {
        int seen = 0;
        for (long s = Math.max(head, toStage); s < tail && seen < most; s++) {
            if (!slot(s).read && !slot(s).left && slot(s).place == null) {
                each.accept(slot(s).file);
                seen++;
            }
        }
    }

    /** How many of the next {@code most} unread positions can be read without a request, up to the first that cannot. */
    public int readyAhead(int most) {
        int ready = 0;
        for (long s = head; s < stagedUpTo() && ready < most; s++) {
            Slot slot = slot(s);
            if (!slot.read) {
                if (slot.place == null || !staging.isStaged(slot.place)) {
                    break;
                }
                ready++;
            }
        }
        return ready;
    }

    /** Adds the samples that are staged and unread to {@code files}. Returns how many positions it has looked at. */
    long addStaged(BitSet files) {
        for (long s = head; s < placedTo; s++) {
            StagingBuffer.Place place = slot(s).place;
            if (place != null && staging.isStaged(place)) {
                files.set(slot(s).file);
            }
        }
        return Math.max(0, placedTo - head);
    }

    /** Moves the window to the first position at or after {@code position}; everything wanted before is released. */
    public void jump(long position) throws InvalidSpecException {
        begin(position);
        extend();
    }

    private void begin(long position) {
        for (long s = head; s < tail; s++) {
            letGo(slot(s));
        }
        slots.clear();
        lost.clear();
        head = tail + JUMP_GAP;
        begin = head;
        toStage = head;
        placedTo = head;
        tail = head;
        tailPosition = position;
        lastWithFile = AccessStream.epoch(position) - (AccessStream.step(position) == 0 ? 1 : 0);
    }

    /**
     * The next position to stage, with room for it taken; null when the trainer has to read something first, or nothing is left. Positions
     * whose samples are still staged are passed over, and keep them.
     *
     * @param shareBytes what this stream may have staged and unread; of the buffer's places it may take the same part
     */
    @Nullable
    public ToStage nextToStage(long shareBytes) throws InvalidSpecException {
        extend();
        int sharePlaces = staging.placesOf(shareBytes);
        keepToShare(shareBytes, sharePlaces);
        ToStage once = nextLost();
        if (once != null) {
            return once;
        }
        while (toStage < tail) {
            Slot slot = slot(toStage);
            if (tracers && isTracer(slot.sequence)) {
                toStage++;
                continue;
            }
            long bytes = slot.read ? 0 : tree.entry(slot.file).size();
            if (slot.read || slot.left || slot.place != null || bytes > staging.capacityBytes()) {
                toStage++; // a sample that never fits is left to its reader's requests
                continue;
            }
            if (stagedUnread > 0
                    && (stagedUnreadBytes + bytes > shareBytes
                            || stagedUnread >= sharePlaces
                            || toStage - head >= mostAhead)) {
                if (letGoFarthest()) {
                    continue;
                }
                return null;
            }
            List<StagingBuffer.Place> leaving = new ArrayList<>();
            StagingBuffer.Place place = staging.reserve(slot.file, bytes, leaving);
            if (place == null) {
                if (!staging.isLeaving(slot.file) && letGoFarthest()) {
                    continue;
                }
                return null;
            }
            slot.place = place;
            stagedUnread++;
            stagedUnreadBytes += bytes;
            toStage++;
            placedTo = Math.max(placedTo, toStage);
            if (!staging.isStaged(place)) { // else another position's sample serves this one too
                return new ToStage(slot.file, place, leaving);
            }
        }
        return null;
    }

    /** The next lost position to stage once more; it has its room already. */
    private @Nullable ToStage nextLost() {
        while (!lost.isEmpty()) {
            long sequence = lost.firstLong();
            lost.remove(sequence);
            StagingBuffer.Place place = sequence >= head && sequence < tail ? slot(sequence).place : null;
            if (place != null && staging.isToBeBroughtAgain(place)) {
                return new ToStage(slot(sequence).file, place, List.of());
            }
        }
        return null;
    }

    /** An unread position whose sample is staged, or was until it was lost: where it is, and its room. */
    public record StagedPosition(long sequence, StagingBuffer.Place place) {}

    /** The first {@code most} of these positions from {@code from} on, in order. */
    public List<StagedPosition> stagedFrom(long from, int most) {
        List<StagedPosition> found = new ArrayList<>();
        for (long s = Math.max(head, from); s < placedTo && found.size() < most; s++) {
            StagingBuffer.Place place = slot(s).place;
            if (place != null && (staging.isStaged(place) || staging.isToBeBroughtAgain(place))) {
                found.add(new StagedPosition(s, place));
            }
        }
        return found;
    }

    /** The sample of a position was lost: it is staged next. */
    public void stageAgain(long sequence) {
        lost.add(sequence);
    }

    /** What is farthest ahead goes when the share has become smaller: another job's trainer would have no room. */
    private void keepToShare(long shareBytes, int sharePlaces) {
        while (stagedUnread > 1 && (stagedUnreadBytes > shareBytes || stagedUnread > sharePlaces) && placedTo > head) {
            placedTo--;
            if (slot(placedTo).place != null) {
                letGo(slot(placedTo));
            }
            toStage = Math.min(toStage, placedTo);
        }
    }

    /** Releases the room of the farthest position, for one before it has to be staged once more. Returns whether there was one. */
    private boolean letGoFarthest() {
        while (placedTo > toStage) {
            placedTo--;
            if (slot(placedTo).place != null) {
                letGo(slot(placedTo));
                return true;
            }
        }
        return false;
    }

    /** The position in the window at which this file is read that is nearest to {@code sequence}; null when there is none. */
    @Nullable
    public Slot nearest(int file, long sequence) {
        return slots.nearest(file, sequence);
    }

    /** The next position in the window at which this slot's file is read, and has not been read yet; null when there is none. */
    @Nullable
    public Slot unreadAfter(Slot slot) {
        Slot next = slot.later;
        while (next != null && next.read) {
            next = next.later;
        }
        return next;
    }

    /** Ticks off the position with this number, if it is in the window. Returns whether that was news. */
    public boolean read(long sequence) throws InvalidSpecException {
        if (sequence < head || sequence >= tail) {
            return false;
        }
        boolean isNew = !slot(sequence).read;
        tick(slot(sequence));
        extend();
        return isNew;
    }

    /**
     * The trainer has caught up: it asks for the whole of the sample at this position. This one is not staged any more, nor are the next
     * ones in memory; those behind them are staged instead.
     *
     * @param isInMemory whether a file could be given at once
     */
    public void asked(long sequence, IntPredicate isInMemory) {
        if (sequence < head || sequence >= tail || slot(sequence).read) {
            return;
        }
        for (long s = sequence; s < tail && s <= sequence + LEFT_AHEAD; s++) {
            Slot slot = slot(s);
            boolean isStaged = slot.place != null && staging.isStaged(slot.place);
            if (isStaged || (s > sequence && !isInMemory.test(slot.file))) {
                return;
            }
            letGo(slot);
            slot.left = true;
        }
    }

    /**
     * Makes the position with this number unread and to be staged again, for another reader than the trainer read it. Returns the position;
     * {@link AccessStream#END} if the window no longer knows it, and nothing changed.
     */
    public long unread(long sequence) {
        if (sequence < begin || sequence >= tail || !slots.has(sequence)) {
            return AccessStream.END;
        }
        Slot slot = slot(sequence);
        slot.read = false;
        slot.left = false;
        while (sequence < head) { // those between stay read, and are found as well: one of them may be unread next
            head--;
            slots.putFirst(slot(head));
        }
        toStage = Math.min(toStage, sequence);
        return slot.position;
    }

    /** Ticks off everything up to a position, itself included: it was read, or is given up. */
    public void readUpTo(long sequence) throws InvalidSpecException {
        for (long s = head; s < tail && s <= sequence; s++) {
            tick(slot(s));
        }
        extend();
    }

    /** The end of the positions that were handed out for staging, as a sequence number. */
    public long stagedUpTo() {
        return Math.max(toStage, placedTo);
    }

    /** Releases everything. */
    public void close() {
        for (long s = head; s < tail; s++) {
            letGo(slot(s));
        }
        head = tail;
        toStage = tail;
        placedTo = tail;
        slots.clear();
    }

    private void tick(Slot slot) {
        slot.read = true;
        letGo(slot);
    }

    private void letGo(Slot slot) {
        StagingBuffer.Place place = slot.place;
        if (place != null) {
            slot.place = null;
            stagedUnread--;
            stagedUnreadBytes -= tree.entry(slot.file).size();
            staging.release(place);
        }
    }

    private void extend() throws InvalidSpecException {
        extend(Integer.MAX_VALUE);
    }

    /**
     * Extends the window as far ahead as it should reach, but not beyond the end of an epoch. It stops before an epoch whose order is not
     * ready; a later call goes on there. Samples without a file are passed over unread, and epochs of them alone as empty ones are ({@link
     * AccessStream#MOST_EMPTY}).
     *
     * @return whether it stopped at the end of this epoch
     */
    public boolean extend(int lastEpoch) throws InvalidSpecException {
        passRead();
        boolean more = false;
        notReady = null;
        try {
            while (!more && hasToReachFarther() && tailPosition != AccessStream.END) {
                tailPosition = atOrAfterTail();
                more = tailPosition != AccessStream.END && AccessStream.epoch(tailPosition) > lastEpoch;
                if (!more && tailPosition != AccessStream.END) {
                    append(index.file(stream.sample(tailPosition)));
                }
            }
        } catch (OrderNotReadyException e) {
            notReady = e.getMessage();
        }
        passRead();
        return more;
    }

    /** Whether the window should reach farther, beyond what is staged and, where little can be staged, beyond the trainer. */
    private boolean hasToReachFarther() {
        return tail - Math.max(head, toStage) < RECOGNISED_AHEAD && tail - head < mostAhead + RECOGNISED_AHEAD;
    }

    private long atOrAfterTail() throws InvalidSpecException {
        long position = stream.atOrAfter(tailPosition);
        boolean isReached = AccessStream.epoch(position) - lastWithFile <= AccessStream.MOST_EMPTY;
        return isReached ? position : AccessStream.END;
    }

    private void append(int file) {
        Slot slot = new Slot(tail, tailPosition, file);
        slot.read = file == SampleIndex.NO_FILE;
        lastWithFile = slot.read ? lastWithFile : AccessStream.epoch(tailPosition);
        slots.append(slot, head);
        tail++;
        tailPosition++;
    }

    private void passRead() {
        while (head < tail && slot(head).read) {
            slots.removeOldest(slot(head));
            head++;
        }
        toStage = Math.max(toStage, head);
    }

    private Slot slot(long sequence) {
        return slots.at(sequence);
    }
}
