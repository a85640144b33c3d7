package io.clairfs.cache.stage;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.stage.StreamWindow.Slot;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive positions of an access stream, found by their sequence number and by their file. It grows as needed; positions behind the
 * oldest one are overwritten. Not thread-safe.
 */
final class SlotRing {
    /** The first position of each file; further ones are chained to it in order. */
    private final Int2ObjectOpenHashMap<Slot> byFile = new Int2ObjectOpenHashMap<>();

    /** Its length is a power of two. */
    private Slot[] ring;

    /** The number of the oldest position that was not overwritten. */
    private long oldest;

    SlotRing(int room) {
        ring = new Slot[room];
    }

    Slot at(long sequence) {
        return ring[(int) (sequence & (ring.length - 1))];
    }

    /** Whether a position that was appended has not been overwritten. */
    boolean has(long sequence) {
        return sequence >= oldest;
    }

    /** Adds the position behind the last; {@code head} is the oldest that is still of use. */
    void append(Slot slot, long head) {
        if (slot.sequence - head == ring.length) {
            grow(slot.sequence);
        }
        ring[(int) (slot.sequence & (ring.length - 1))] = slot;
        oldest = Math.max(oldest, slot.sequence + 1 - ring.length);
        if (slot.file != SampleIndex.NO_FILE) {
            chain(slot);
        }
    }

    private void chain(Slot slot) {
        Slot first = byFile.putIfAbsent(slot.file, slot);
        if (first != null) {
            while (first.later != null) {
                first = first.later;
            }
            first.later = slot;
        }
    }

    private void grow(long tail) {
        Slot[] larger = new Slot[ring.length * 2];
        for (long s = oldest; s < tail; s++) {
            larger[(int) (s & (larger.length - 1))] = at(s);
        }
        ring = larger;
    }

    /** Makes the position that was removed last the oldest again. */
    void putFirst(Slot slot) {
        if (slot.file != SampleIndex.NO_FILE) {
            slot.later = byFile.put(slot.file, slot);
        }
    }

    /** The oldest position is no longer found by its file. */
    void removeOldest(Slot slot) {
        if (slot.file != SampleIndex.NO_FILE && byFile.get(slot.file) == slot) {
            if (slot.later == null) {
                byFile.remove(slot.file);
            } else {
                byFile.put(slot.file, slot.later);
            }
        }
    }

    /** Forgets the positions of all files. */
    void clear() {
        byFile.clear();
    }

    /** The position of this file that is nearest to {@code sequence}, the earlier of two; null when there is none. */
    @Nullable
    Slot nearest(int file, long sequence) {
        Slot best = byFile.get(file);
        for (Slot s = best; s != null && best != null; s = s.later) {
            if (Math.abs(s.sequence - sequence) < Math.abs(best.sequence - sequence)) {
                best = s;
            }
        }
        return best;
    }
}
