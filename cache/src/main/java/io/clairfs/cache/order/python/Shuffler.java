package io.clairfs.cache.order.python;

/** A generator together with a library's way to shuffle; each shuffle goes on where the last one ended. */
sealed interface Shuffler permits NumpyShuffle, PythonRandom {
    /** Shuffles in place. */
    void shuffle(int[] items);

    /** Draws what a shuffle of {@code count} items draws. */
    void pass(int count);

    /** One that goes on from here by itself. */
    Shuffler copy();
}
