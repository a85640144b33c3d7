package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.posix.PosixException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The segments of one dataset and the sums over them: reserved room, live bytes, bytes on the disk.
 *
 * <p>Room is reserved under one lock and written to outside it. Files are made under the lock, once per segment; so whoever asks for the sums
 * takes no lock, and does not wait for a disk that hangs. Bytes count from their reservation until after their removal, so the disk never holds
 * more than the capacity.
 */
final class SegmentLog {
    /** A segment is at most this part of the capacity, so that a half-empty one wastes little of it. */
    private static final int LEAST_SEGMENTS = 16;

    private static final int MOST_SEGMENTS = (1 << Places.SEGMENT_BITS) - 1;

    private final TierDirectory directory;
    private final long capacityBytes;
    private final long segmentBytes;
    private final Map<Integer, Segment> bySlot = new ConcurrentHashMap<>();
    private @Nullable Segment active;
    private int lastNumber;

    /** Changed under the lock. */
    private volatile LogSums sums = LogSums.EMPTY;

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

    /** The segment that holds {@code place}; null when it has been deleted, and the place is stale. */
    @Nullable
    Segment segment(long place) {
        return bySlot.get(Places.slot(place));
    }

    /**
     * Reserves room for a sample; {@link #publish}, {@link #discard} or {@link #giveBack} must follow.
     *
     * @return null when there is no room now
     * @throws PosixException when a new segment is needed and cannot be made
     */
    synchronized @Nullable Spot reserve(long size) throws PosixException {
        long need = size + IndexEntry.BYTES;
        if (sums.diskBytes() + need > capacityBytes) {
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
        sums = sums.reserved(need);
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

    /** Seals the active segment; the next sample begins a new one. */
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
        sums = sums.settled(spot.diskBytes());
        closeIfSettled(segment);
    }

    /** Gives up room that could not be written to; the last room of a settled segment is removed from the disk. */
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
     * Records a written sample: {@code file} was at {@code expected} and is at {@code spot} now.
     *
     * @return false when it was not at {@code expected} any more; then the written bytes are dead
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

    /** Records that a written sample is not wanted any more: its bytes are dead. */
    synchronized void discard(Spot spot) {
        settle(spot);
    }

    /** Forgets a sample of {@code size} bytes if it is still at {@code place}. Returns whether it was. */
    synchronized boolean retract(Places places, int file, long place, long size) {
        if (!places.replace(file, place, Places.NOWHERE)) {
            return false;
        }
        add(place, -1, -size - IndexEntry.BYTES);
        return true;
    }

    /** Counts a sample that an earlier mount left at {@code place}. */
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
        sums = sums.plusLive(samples, bytes);
        assert sums.liveBytes() >= 0 && segment.liveBytes >= 0 && segment.liveSamples >= 0 : "negative sum";
    }

    /** Takes over a segment of an earlier mount. Returns false when its slot is not free. */
    synchronized boolean adopt(Segment segment) {
        if (segment.slot() == 0 || bySlot.putIfAbsent(segment.slot(), segment) != null) {
            return false;
        }
        lastNumber = Math.max(lastNumber, segment.number());
        sums = sums.plusDisk(segment.diskBytes());
        return true;
    }

    /** Leaves files of this number in place; no new segment gets their names. */
    synchronized void leaveOut(int number) {
        lastNumber = Math.max(lastNumber, number);
    }

    /** How many entries the segment has, live or dead. */
    synchronized int entries(Segment segment) {
        return segment.entries;
    }

    /** Whether compaction of {@code segment} would gain anything. */
    synchronized boolean isWorthwhile(Segment segment) {
        return segment.isSettled() && segment.deadBytes() > 0;
    }

    /** All segments, to be read under the lock of this log. */
    Collection<Segment> segments() {
        return bySlot.values();
    }

    /** Whether a segment was begun since {@link #setFragmented} recorded that few are small. */
    boolean mayBeFragmented() {
        return mayBeFragmented;
    }

    /** Records whether there are small segments to merge. */
    void setFragmented(boolean fragmented) {
        mayBeFragmented = fragmented;
    }

    /** Whether the segment is settled and at most half full, in bytes and entries. */
    boolean isSmall(Segment segment) {
        return segment.isSettled()
                && segment.dataBytes <= segmentBytes / 2
                && segment.entries <= Segment.MOST_ENTRIES / 2;
    }

    /** Whether the live samples of the segment fit elsewhere now. */
    synchronized boolean hasRoomFor(Segment segment) {
        return sums.diskBytes() + segment.liveBytes <= capacityBytes;
    }

    /** Seals the active segment if it could be compacted then. Returns whether it did. */
    synchronized boolean sealActiveIfWorthwhile() {
        Segment segment = active;
        if (segment == null || segment.writers > 0 || segment.deadBytes() == 0) {
            return false;
        }
        sealActive();
        return true;
    }

    /** Removes a settled segment from the disk. If samples are live in it, their places must be forgotten, too. */
    void delete(Segment segment) throws PosixException {
        segment.delete();
        synchronized (this) {
            bySlot.remove(segment.slot());
            sums = sums.plusDisk(-segment.diskBytes()).plusLive(-segment.liveSamples, -segment.liveBytes);
            segment.liveBytes = 0;
            segment.liveSamples = 0;
            segment.entries = 0;
            segment.dataBytes = 0;
        }
    }

    /** Cuts off a settled segment from {@code entry} on, whose sample begins at {@code offset}; no sample from there on may be live. */
    void cut(Segment segment, int entry, long offset) throws PosixException {
        segment.cut(entry, offset);
        cutInBooks(segment, entry, offset);
    }

    private synchronized void cutInBooks(Segment segment, int entry, long offset) {
        long before = segment.diskBytes();
        segment.entries = entry;
        segment.dataBytes = offset;
        sums = sums.plusDisk(segment.diskBytes() - before);
    }

    /**
     * As {@link #cut}, and reserves room for samples of {@code sizes} before another thread can take the freed room. Some may be missing at
     * the end of the result if there is no room after all.
     */
    List<Spot> cutAndReserve(Segment segment, int entry, long offset, long[] sizes) throws PosixException {
        segment.cut(entry, offset);
        synchronized (this) {
            cutInBooks(segment, entry, offset);
            return reserveAll(sizes);
        }
    }

    /**
     * Reserves room for samples of {@code sizes}; some may be missing at the end of the result.
     *
     * @throws PosixException when a new segment is needed for the first, and cannot be made
     */
    synchronized List<Spot> reserveAll(long[] sizes) throws PosixException {
        List<Spot> spots = new ArrayList<>(sizes.length);
        for (long size : sizes) {
            Spot spot;
            try {
                spot = reserve(size);
            } catch (PosixException e) {
                if (spots.isEmpty()) {
                    throw e;
                }
                break; // the next call meets the same error
            }
            if (spot == null) {
                break;
            }
            spots.add(spot);
        }
        return spots;
    }

    /** Whether {@code bytes} more, entries included, fit now. */
    synchronized boolean hasRoom(long bytes) {
        return sums.diskBytes() + bytes <= capacityBytes;
    }

    /** Whether a sample of {@code size} bytes would fit if all dead bytes were removed. */
    synchronized boolean couldFit(long size) {
        LogSums now = sums;
        long kept = TierDirectory.fixedBytes() + now.liveBytes() + now.pendingBytes();
        return kept + size + IndexEntry.BYTES <= capacityBytes;
    }

    /** Bytes that compaction can remove, once no sample is being sent from their segments. */
    long deadBytes() {
        return sums.deadBytes();
    }

    /** Bytes in the directory. */
    long diskBytes() {
        return sums.diskBytes();
    }

    /** Bytes of the live samples and their entries. */
    long liveBytes() {
        return sums.liveBytes();
    }

    int liveSamples() {
        return sums.liveSamples();
    }
}
