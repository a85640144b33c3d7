package io.clairfs.cache.order.python;

/** A generator with a library's shuffle; each shuffle continues where the last one ended. */
sealed interface Shuffler permits NumpyShuffle, PythonRandom {
    /** Shuffles in place. */
    void shuffle(int[] items);

    /** Makes the draws of a shuffle of {@code count} items. */
    void pass(int count);

    /** An independent copy that continues from here. */
    Shuffler copy();
}
