package io.clairfs.cache.seed;

/** How far a search for the seed goes. */
public enum SearchExtent {
    /** The usual seeds of all families, and seeds below 10^6 of those whose candidates cost microseconds: seconds on one core. */
    USUAL,
    /** Seeds from 10^6 to 2^24 of the families whose candidates cost microseconds: minutes on one core, for the background. */
    WIDE
}
