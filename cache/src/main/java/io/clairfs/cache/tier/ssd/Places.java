package io.clairfs.cache.tier.ssd;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Where each file's sample lies on the disk, and its checksum: 12 bytes per file, outside the heap.
 *
 * <p>A place is one word, so that it changes atomically: 20 bits for the segment, 26 for the offset in its data file, 18 for its entry in
 * the index file. Zero means that the sample is not here. The checksum belongs to the place and is written before it; a reader that finds
 * it wrong checks whether the place is still the same.
 */
class Places {
    /** The sample is not here. */
    static final long NOWHERE = 0;

    static final int SEGMENT_BITS = 20;
    static final int OFFSET_BITS = 26;
    static final int ENTRY_BITS = 18;

    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final VarHandle INT = JAVA_INT.varHandle();

    private final int files;
    private final MemorySegment places;
    private final MemorySegment crcs;

    /** A table for the files 0 to {@code files - 1}, all {@link #NOWHERE}. */
    Places(int files) {
        this.files = files;
        // Freed with the last use of this object: a query may come while the tier closes.
        Arena arena = Arena.ofAuto();
        places = arena.allocate(Math.max(1, files) * (long) Long.BYTES, Long.BYTES);
        crcs = arena.allocate(Math.max(1, files) * (long) Integer.BYTES, Integer.BYTES);
    }

    static long place(int slot, long offset, int entry) {
        assert slot > 0 && slot < 1 << SEGMENT_BITS && offset >= 0 && offset < 1L << OFFSET_BITS;
        assert entry >= 0 && entry < 1 << ENTRY_BITS;
        return ((long) slot << (OFFSET_BITS + ENTRY_BITS)) | (offset << ENTRY_BITS) | entry;
    }

    static int slot(long place) {
        return (int) (place >>> (OFFSET_BITS + ENTRY_BITS));
    }

    static long offset(long place) {
        return (place >>> ENTRY_BITS) & ((1L << OFFSET_BITS) - 1);
    }

    static int entry(long place) {
        return (int) place & ((1 << ENTRY_BITS) - 1);
    }

    /** The number of files. */
    int files() {
        return files;
    }

    /** The place of the sample, or {@link #NOWHERE}, also for a file beyond the table. */
    long get(int file) {
        return file < 0 || file >= files ? NOWHERE : (long) LONG.getVolatile(places, (long) file * Long.BYTES);
    }

    /** Changes the place if it is {@code expected}. Returns whether it was. */
    boolean replace(int file, long expected, long place) {
        return LONG.compareAndSet(places, (long) file * Long.BYTES, expected, place);
    }

    int crc(int file) {
        return (int) INT.getVolatile(crcs, (long) file * Integer.BYTES);
    }

    void setCrc(int file, int crc) {
        INT.setVolatile(crcs, (long) file * Integer.BYTES, crc);
    }

    /** Forgets all samples in the segments with these slots, in one walk through all files. Nothing else may change a place meanwhile. */
    void forget(BitSet slots) {
        if (slots.isEmpty()) {
            return;
        }
        for (int file = 0; file < files; file++) {
            long at = (long) file * Long.BYTES;
            if (slots.get(slot(places.get(JAVA_LONG, at)))) {
                LONG.setVolatile(places, at, NOWHERE);
            }
        }
    }

    /** The files in the segment with this slot, in the order of their entries: entry in the upper half, file in the lower. */
    long[] filesIn(int slot) {
        long[] found = new long[64];
        int count = 0;
        for (int file = 0; file < files; file++) {
            long place = places.get(JAVA_LONG, (long) file * Long.BYTES);
            if (slot(place) == slot) {
                if (count == found.length) {
                    found = Arrays.copyOf(found, count * 2);
                }
                found[count++] = (long) entry(place) << Integer.SIZE | file;
            }
        }
        found = Arrays.copyOf(found, count);
        Arrays.sort(found);
        return found;
    }
}
