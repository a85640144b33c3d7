package io.clairfs.cache.plan.request;

import java.util.Locale;

/** How a plan decides what is kept where; the papers' policies are there to be compared with. */
public enum PlacementPolicy {
    /** Every sample gets one copy if the source's price warrants it, then local uses count ({@code CoverageFirst}). */
    CLAIRFS,
    /** Each node keeps its own most frequent samples ({@code OwnMostFrequent}). */
    NOPFS,
    /** Who reads a sample first keeps it, and last copies stay ({@code FirstReaderHolds}). */
    LOBSTER;

    /** The name that users write. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
