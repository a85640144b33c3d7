package io.clairfs.peer.directory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The holders of each sample: what {@link HeldThere} knows by node, by sample. Without it the search for a sample's holders in a large group
 * looks into the sets of all nodes.
 *
 * <p>Samples form blocks of 64. A block is an array of cells in no order. A cell is free or names a sample of the block, by its place in it, and the slot
 * of a node that holds it, in 16 bits. So a holding takes two bytes, as in the sets themselves, and a look reads one short array.
 *
 * <p>Readers take no lock: a cell is written at once and stays where it is, and a block that is full is replaced by a larger copy. Writers of a
 * block take turns by a lock that it shares with other blocks.
 *
 * <p>A block with more than four holders for each of its samples is given up, which bounds the memory. The holders of its samples are so many that a
 * search of all nodes meets one soon.
 */
final class HolderIndex {
    private static final int PLACE_BITS = 6;
    private static final int SLOT_BITS = Character.SIZE - PLACE_BITS;
    private static final int BLOCK = 1 << PLACE_BITS;
    private static final int MOST_CELLS = 4 * BLOCK;

    /** Cells are added to a block in so many bytes as a JVM aligns arrays to. */
    private static final int GROWTH = 8 / Character.BYTES;

    private static final int LOCKS = 64;
    private static final char FREE = Character.MAX_VALUE;
    private static final char[] EMPTY = {};

    /** Of a length that no other block has. */
    private static final char[] GIVEN_UP = {FREE};

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(char[].class);

    /** Slots are 0 to this, exclusive: the last one would make a cell that looks free. */
    static final int SLOTS = (1 << SLOT_BITS) - 1;

    /** The answer for a sample whose block was given up. */
    static final int UNKNOWN = -2;

    private final AtomicReferenceArray<char[]> blocks;
    private final Object[] locks = new Object[LOCKS];

    HolderIndex(int samples) {
        blocks = new AtomicReferenceArray<>(Math.ceilDiv(samples, BLOCK));
        for (int i = 0; i < blocks.length(); i++) {
            blocks.setPlain(i, EMPTY);
        }
        Arrays.setAll(locks, _ -> new Object());
    }

    /** Notes that the node of this slot holds the sample. */
    void add(int sample, int slot) {
        int number = sample / BLOCK;
        char cell = cell(sample, slot);
        synchronized (locks[number % LOCKS]) {
            char[] block = blocks.getPlain(number);
            if (block.length == GIVEN_UP.length) {
                return;
            }
            int free = -1;
            for (int i = 0; i < block.length; i++) {
                if (block[i] == cell) {
                    return;
                }
                if (block[i] == FREE) {
                    free = i;
                }
            }
            if (free >= 0) {
                CELL.setRelease(block, free, cell);
            } else if (block.length == MOST_CELLS) {
                blocks.setRelease(number, GIVEN_UP);
            } else {
                char[] larger = Arrays.copyOf(block, block.length + GROWTH);
                Arrays.fill(larger, block.length + 1, larger.length, FREE);
                larger[block.length] = cell;
                blocks.setRelease(number, larger);
            }
        }
    }

    /** Notes that the node of this slot does not hold the sample. */
    void remove(int sample, int slot) {
        int number = sample / BLOCK;
        char cell = cell(sample, slot);
        synchronized (locks[number % LOCKS]) {
            char[] block = blocks.getPlain(number);
            for (int i = 0; i < block.length; i++) {
                if (block[i] == cell) {
                    CELL.setRelease(block, i, FREE);
                    return;
                }
            }
        }
    }

    private static char cell(int sample, int slot) {
        return (char) (sample % BLOCK << SLOT_BITS | slot);
    }

    /**
     * The least number of a node, from {@code from} on, that holds the sample.
     *
     * @param numberOf the number of each slot's node, -1 for a slot without one
     * @return -1 if there is none, {@link #UNKNOWN} if all nodes must be searched
     */
    int nextHolder(int sample, int from, int[] numberOf) {
        char[] block = blocks.getAcquire(sample / BLOCK);
        if (block.length == GIVEN_UP.length) {
            return UNKNOWN;
        }
        int next = -1;
        for (int i = 0; i < block.length; i++) {
            char cell = (char) CELL.getOpaque(block, i);
            if (cell >> SLOT_BITS == sample % BLOCK && cell != FREE) {
                int number = numberOf[cell % (SLOTS + 1)];
                if (number >= from && (next < 0 || number < next)) {
                    next = number;
                }
            }
        }
        return next;
    }

    /** Memory of the blocks, bytes, as a JVM with compressed references lays them out. */
    long memoryBytes() {
        long bytes = 0;
        for (int i = 0; i < blocks.length(); i++) {
            int cells = blocks.get(i).length;
            bytes += Integer.BYTES + (cells == 0 ? 0 : 16 + (long) cells * Character.BYTES);
        }
        return bytes;
    }
}
