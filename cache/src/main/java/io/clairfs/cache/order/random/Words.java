package io.clairfs.cache.order.random;

/** A generator of 32-bit words that numpy's shuffles can draw from. */
public sealed interface Words permits Mt19937, Pcg64 {
    /** The next word; all 32 bits count, so as a number it is unsigned. */
    int next32();

    /** An independent copy that continues from here. */
    Words copy();
}
