package io.clairfs.cache.plan.request;

import java.util.Locale;

/** How a plan places samples; the papers' policies are there for comparison. */
public enum PlacementPolicy {
    /** Every sample gets one copy if the source's price warrants it, then local uses count ({@code CoverageFirst}). */
    CLAIRFS,
    /** Each node keeps its own most frequent samples ({@code OwnMostFrequent}). */
    NOPFS,
    /** The first reader of a sample keeps it, and last copies stay ({@code FirstReaderHolds}). */
    LOBSTER;

    /** The name that users write. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
