package io.clairfs.cache.plan;

import java.util.Locale;

/** How a plan decides what is kept where; the papers' policies are there to be compared with. */
public enum PlacementPolicy {
    /** Every sample gets one copy if the source's price warrants it, then local uses count ({@link CoverageFirst}). */
    CLAIRFS,
    /** Each node keeps its own most frequent samples ({@link OwnMostFrequent}). */
    NOPFS,
    /** Who reads a sample first keeps it, and last copies stay ({@link FirstReaderHolds}). */
    LOBSTER;

    /** The name that users write. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
