package io.clairfs.cache.seed;

/** A family whose first elements cost as many draws, so that a seed is tried in microseconds. For one thread. */
interface PrefixFamily extends OrderFamily {
    /** Seeds at a time. */
    int LANES = TorchWords.LANES;

    /** The most elements that {@link #first} gives. */
    int MOST = 2048;

    /** Elements that suffice where one rank reads all, from the first on. */
    int FOR_ONE = 64;

    /** Begins the orders of {@value #LANES} seeds. */
    void seed(long[] seeds);

    /**
     * Writes the first {@code count} elements of the order of the seed in {@code lane}, as far as the dataset has so many.
     *
     * @return how many it wrote
     */
    int first(int lane, int[] order, int count);

    /** The most elements that are looked at when seeds are tried by the million. */
    default int most() {
        return dealing() == Dealing.TO_ONE ? FOR_ONE : MOST;
    }

    /** Seeds below this are tried in turn; of the others the usual ones. */
    default long seeds() {
        return Long.MAX_VALUE;
    }
}
