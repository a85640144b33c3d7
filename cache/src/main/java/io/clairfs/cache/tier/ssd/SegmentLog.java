package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.posix.PosixException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The segments of one dataset and the sums over them: who writes where, what is live, what the disk holds.
 *
 * <p>Room is reserved here, under one lock, and written to outside it; so are files made, which happens once per segment. What
 * the disk holds is counted when it is reserved and given back after it is removed, so it is never more than the capacity.
 */
final class SegmentLog {
    /** Segments are this part of the capacity or less, so that one that is half empty does not waste much of it. */
    private static final int LEAST_SEGMENTS = 16;

    private static final int MOST_SEGMENTS = (1 << Places.SEGMENT_BITS) - 1;

    private final TierDirectory directory;
    private final long capacityBytes;
    private final long segmentBytes;
    private final Map<Integer, Segment> bySlot = new ConcurrentHashMap<>();
    private @Nullable Segment active;
    private int lastNumber;
    private long diskBytes = TierDirectory.fixedBytes();
    private long liveBytes;
    private long pendingBytes;
    private int liveSamples;
    private volatile boolean mayBeFragmented;

    SegmentLog(TierDirectory directory, long capacityBytes) {
        this.directory = directory;
        this.capacityBytes = capacityBytes;
        segmentBytes = Math.clamp(capacityBytes / LEAST_SEGMENTS, 1, Segment.LARGEST_BYTES);
    }

    /**
     * Room for one sample in a segment.
     *
     * @param size bytes of the sample
     */
    record Spot(Segment segment, int entry, long offset, long size) {
        long place() {
            return Places.place(segment.slot(), offset, entry);
        }

        long diskBytes() {
            return size + IndexEntry.BYTES;
        }
    }

    /** The segment that holds {@code place}; null when it has been deleted, and then the place is out of date. */
    @Nullable
    Segment segment(long place) {
        return bySlot.get(Places.slot(place));
    }

    /**
     * Takes room for a sample; {@link #publish} or {@link #giveBack} must follow.
     *
     * @return null when the capacity does not allow it as things are
     * @throws PosixException when a new segment is needed and cannot be made
     */
    synchronized @Nullable Spot reserve(long size) throws PosixException {
        long need = size + IndexEntry.BYTES;
        if (diskBytes + need > capacityBytes) {
            return null;
        }
        Segment segment = active;
        if (segment == null || !takes(segment, size)) {
            if (bySlot.size() == MOST_SEGMENTS) {
                return null;
            }
            sealActive();
            segment = create();
            active = segment;
        }
        Spot spot = new Spot(segment, segment.entries, segment.dataBytes, size);
        segment.entries++;
        segment.dataBytes += size;
        segment.pendingBytes += need;
        segment.writers++;
        diskBytes += need;
        pendingBytes += need;
        return spot;
    }

    private boolean takes(Segment segment, long size) {
        return segment.entries == 0
                || (segment.entries < Segment.MOST_ENTRIES
                        && segment.dataBytes < Segment.LARGEST_BYTES
                        && segment.dataBytes + size <= segmentBytes);
    }

    private Segment create() throws PosixException {
        do {
            lastNumber++;
        } while (Segment.slot(lastNumber) == 0 || bySlot.containsKey(Segment.slot(lastNumber)));
        Segment made = Segment.create(directory, lastNumber);
        bySlot.put(made.slot(), made);
        mayBeFragmented = true;
        return made;
    }

    /** Nothing more is added to the segment that is being filled; the next sample begins a new one. */
    synchronized void sealActive() {
        Segment segment = active;
        active = null;
        if (segment != null) {
            segment.sealed = true;
            closeIfSettled(segment);
        }
    }

    private static void closeIfSettled(Segment segment) {
        if (segment.isSettled()) {
            segment.closeFiles();
        }
    }

    private void settle(Spot spot) {
        Segment segment = spot.segment;
        segment.writers--;
        segment.pendingBytes -= spot.diskBytes();
        pendingBytes -= spot.diskBytes();
        closeIfSettled(segment);
    }

    /** Says that the room could not be written to; if it was the last of its segment, the disk gets it back. */
    synchronized void giveBack(Spot spot) {
        settle(spot);
        Segment segment = spot.segment;
        if (segment == active) {
            sealActive();
        }
        if (!segment.isSettled() || segment.entries != spot.entry + 1) {
            return;
        }
        try {
            if (spot.entry == 0) {
                delete(segment);
            } else {
                cut(segment, spot.entry, spot.offset);
            }
        } catch (PosixException e) {
            // Then it stays as dead bytes, which compaction tries to remove when room is needed.
        }
    }

    /**
     * Puts a sample that was written into the books: {@code file} was at {@code expected} and is at {@code spot} now.
     *
     * @return false when it was not at {@code expected} any more; then what was written is dead
     */
    synchronized boolean publish(Places places, int file, long expected, Spot spot) {
        settle(spot);
        if (!places.replace(file, expected, spot.place())) {
            return false;
        }
        if (expected != Places.NOWHERE) {
            add(expected, -1, -spot.diskBytes());
        }
        add(spot.place(), 1, spot.diskBytes());
        return true;
    }

    /** Takes a sample of {@code size} bytes out of the books if it is still at {@code place}. */
    synchronized boolean retract(Places places, int file, long place, long size) {
        if (!places.replace(file, place, Places.NOWHERE)) {
            return false;
        }
        add(place, -1, -size - IndexEntry.BYTES);
        return true;
    }

    /** Books a sample that an earlier mount left at {@code place}. */
    synchronized void count(long place, long size) {
        add(place, 1, size + IndexEntry.BYTES);
    }

    private void add(long place, int samples, long bytes) {
        Segment segment = bySlot.get(Places.slot(place));
        if (segment == null) {
            throw new AssertionError("a place in a segment that is gone");
        }
        segment.liveSamples += samples;
        segment.liveBytes += bytes;
        liveSamples += samples;
        liveBytes += bytes;
        assert liveBytes >= 0 && segment.liveBytes >= 0 && segment.liveSamples >= 0 : "negative sum";
    }

    /** Takes over a segment of an earlier mount. Returns false when there is no slot for it. */
    synchronized boolean adopt(Segment segment) {
        if (segment.slot() == 0 || bySlot.putIfAbsent(segment.slot(), segment) != null) {
            return false;
        }
        lastNumber = Math.max(lastNumber, segment.number());
        diskBytes += segment.diskBytes();
        return true;
    }

    /** Files of this number stay where they are, and no new segment is to have their names. */
    synchronized void leaveOut(int number) {
        lastNumber = Math.max(lastNumber, number);
    }

    /** How many entries the segment has, alive or dead. */
    synchronized int entries(Segment segment) {
        return segment.entries;
    }

    /** Whether compaction of {@code segment} would gain anything. */
    synchronized boolean isWorthwhile(Segment segment) {
        return segment.isSettled() && segment.deadBytes() > 0;
    }

    /** All segments, to be looked at under the lock of this log. */
    Collection<Segment> segments() {
        return bySlot.values();
    }

    /** Whether a segment was begun since it was {@link #setFragmented found} that few are small. */
    boolean mayBeFragmented() {
        return mayBeFragmented;
    }

    /** Says whether there are small segments to merge. */
    void setFragmented(boolean fragmented) {
        mayBeFragmented = fragmented;
    }

    /** Whether the segment is closed and not half full, in bytes and entries. */
    boolean isSmall(Segment segment) {
        return segment.isSettled()
                && segment.dataBytes <= segmentBytes / 2
                && segment.entries <= Segment.MOST_ENTRIES / 2;
    }

    /** Whether all that lives in the segment would fit elsewhere as things are. */
    synchronized boolean hasRoomFor(Segment segment) {
        return diskBytes + segment.liveBytes <= capacityBytes;
    }

    /** Ends the segment that is being filled if it could be compacted then. Returns whether it did. */
    synchronized boolean sealActiveIfWorthwhile() {
        Segment segment = active;
        if (segment == null || segment.writers > 0 || segment.deadBytes() == 0) {
            return false;
        }
        sealActive();
        return true;
    }

    /** Removes a {@link Victims#dead dead segment} from the disk. */
    void delete(Segment segment) throws PosixException {
        segment.delete();
        synchronized (this) {
            bySlot.remove(segment.slot());
            diskBytes -= segment.diskBytes();
            segment.entries = 0;
            segment.dataBytes = 0;
        }
    }

    /** Ends a settled segment before {@code entry}, whose sample begins at {@code offset}; nothing behind it may be live. */
    void cut(Segment segment, int entry, long offset) throws PosixException {
        segment.cut(entry, offset);
        cutInBooks(segment, entry, offset);
    }

    private synchronized void cutInBooks(Segment segment, int entry, long offset) {
        diskBytes -= segment.diskBytes();
        segment.entries = entry;
        segment.dataBytes = offset;
        diskBytes += segment.diskBytes();
    }

    /**
     * As {@link #cut}, and takes room for samples of {@code sizes} before anybody else can take what was freed. Some may be
     * missing at the end of the result if there is no room after all.
     */
    List<Spot> cutAndReserve(Segment segment, int entry, long offset, long[] sizes) throws PosixException {
        segment.cut(entry, offset);
        synchronized (this) {
            cutInBooks(segment, entry, offset);
            return reserveAll(sizes);
        }
    }

    /** Takes room for samples of {@code sizes}; some may be missing at the end of the result. */
    synchronized List<Spot> reserveAll(long[] sizes) {
        List<Spot> spots = new ArrayList<>(sizes.length);
        for (long size : sizes) {
            Spot spot;
            try {
                spot = reserve(size);
            } catch (PosixException e) {
                break; // the next keep() meets the same error and tells of it
            }
            if (spot == null) {
                break;
            }
            spots.add(spot);
        }
        return spots;
    }

    /** Whether {@code bytes} more, entries included, would fit as things are. */
    synchronized boolean hasRoom(long bytes) {
        return diskBytes + bytes <= capacityBytes;
    }

    /** Whether a sample of {@code size} bytes would fit if nothing dead were left. */
    synchronized boolean couldFit(long size) {
        return TierDirectory.fixedBytes() + liveBytes + pendingBytes + size + IndexEntry.BYTES <= capacityBytes;
    }

    /** All segments, oldest first. */
    synchronized List<Segment> oldestFirst() {
        List<Segment> all = new ArrayList<>(bySlot.values());
        all.sort(Comparator.comparingInt(Segment::number));
        return all;
    }

    /** What the directory holds, bytes. */
    synchronized long diskBytes() {
        return diskBytes;
    }

    /** What the live samples and their entries take, bytes. */
    synchronized long liveBytes() {
        return liveBytes;
    }

    synchronized int liveSamples() {
        return liveSamples;
    }
}
