package io.clairfs.cache.fetch;

/**
 * Bounds on the fetches of a {@link FetchRouter}.
 *
 * @param lostNs the age at which a flight counts as lost, nanoseconds; its sample is fetched anew
 * @param mostFromSourceBytes bytes that samples under way from the source may take at once; a larger sample comes alone
 */
public record FetchLimits(long lostNs, long mostFromSourceBytes) {
    /** No flight is ever lost; the usual bytes from the source. */
    public static final FetchLimits DEFAULT = new FetchLimits(Long.MAX_VALUE, SourceTurns.MOST_BEGUN_BYTES);

    /** The same limits, but a flight of this age in nanoseconds is lost. */
    public FetchLimits withLostNs(long ns) {
        return new FetchLimits(ns, mostFromSourceBytes);
    }
}
