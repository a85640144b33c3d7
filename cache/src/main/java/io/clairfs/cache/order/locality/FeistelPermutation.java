package io.clairfs.cache.order.locality;

/**
 * A fixed permutation of the numbers below a size, without a table: the same in every program and every run.
 *
 * <p>A Feistel network of four rounds permutes the numbers of as many bits as the size needs, and a number that lands outside is permuted
 * again until it lands inside (cycle walking, Black and Rogaway 2002, section 3). So it is a permutation for every size; at most half of
 * all numbers lie outside. The keys are the first digits of pi.
 */
final class FeistelPermutation {
    private static final long[] KEYS = {
        0x243f6a8885a308d3L, 0x13198a2e03707344L, 0xa4093822299f31d0L, 0x082efa98ec4e6c89L
    };

    private final int size;
    private final int lowBits;
    private final int lowMask;
    private final int highMask;

    /** A permutation of 0 to {@code size - 1}. */
    FeistelPermutation(int size) {
        this.size = size;
        int bits = Math.max(2, Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(0, size - 1)));
        lowBits = bits / 2;
        lowMask = (1 << lowBits) - 1;
        highMask = (1 << (bits - lowBits)) - 1;
    }

    /** The number at {@code place}, which is 0 to {@code size - 1}. */
    int at(int place) {
        int number = place;
        do {
            int high = number >>> lowBits;
            int low = number & lowMask;
            high ^= mixed(low + KEYS[0]) & highMask;
            low ^= mixed(high + KEYS[1]) & lowMask;
            high ^= mixed(low + KEYS[2]) & highMask;
            low ^= mixed(high + KEYS[3]) & lowMask;
            number = high << lowBits | low;
        } while (number >= size);
        return number;
    }

    /** 24 bits that depend on all of {@code word}; multipliers of MurmurHash3. */
    private static int mixed(long word) {
        long product = word * 0xff51afd7ed558ccdL;
        product = (product ^ product >>> 32) * 0xc4ceb9fe1a85ec53L;
        return (int) (product >>> 40);
    }
}
