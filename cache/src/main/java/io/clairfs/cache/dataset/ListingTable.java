package io.clairfs.cache.dataset;

import java.util.Arrays;

/**
 * Finds the listing of a directory by the number of any of its entries.
 *
 * <p>One writer at a time adds; readers take no lock. The array is published before the count, so a reader that reads the count first finds
 * at least that many listings in the array.
 */
final class ListingTable {
    private static final int BLOCK_BITS = 8;

    private volatile Listing[] listings;
    private volatile int count;
    private volatile int[] blockStarts = {};

    /** An empty table with room for {@code capacity} listings, at least one, before it grows. */
    ListingTable(int capacity) {
        listings = new Listing[capacity];
    }

    /** Adds a listing of at least one entry, numbered after all earlier ones. The caller excludes other writers. */
    void add(Listing listing) {
        int at = count;
        if (at == listings.length) {
            listings = Arrays.copyOf(listings, at * 2);
        }
        listings[at] = listing;
        count = at + 1;
    }

    /** The listing that has the entry with this number, which must have been added. */
    Listing of(int number) {
        int high = count - 1; // before the array: it may grow meanwhile
        Listing[] all = listings;
        int low = 0;
        int[] starts = blockStarts;
        int block = number >>> BLOCK_BITS;
        if (block < starts.length) { // among those that begin in this block, or the one before
            low = starts[block];
            high = block + 1 < starts.length ? starts[block + 1] : high;
        }
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (all[middle].base() <= number) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return all[low];
    }

    /** Called when all {@code entries} are added: records for each block of numbers the listing with its first one. */
    void allAdded(int entries) {
        int[] starts = new int[(entries >>> BLOCK_BITS) + 1];
        int listing = 0;
        for (int block = 0; block < starts.length; block++) {
            while (listing + 1 < count && listings[listing + 1].base() <= block << BLOCK_BITS) {
                listing++;
            }
            starts[block] = listing;
        }
        blockStarts = starts;
    }
}
