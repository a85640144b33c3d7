package io.clairfs.cache.fetch;

/**
 * Bounds on the fetches of a {@link FetchRouter}.
 *
 * @param lostNs how old a fetch must be to be taken for lost, nanoseconds; a lost one is made anew
 * @param mostFromSourceBytes what samples under way from the source may take at once, bytes; a larger one comes alone
 */
public record FetchLimits(long lostNs, long mostFromSourceBytes) {
    /** No fetch is ever lost; the usual bytes from the source. */
    public static final FetchLimits DEFAULT = new FetchLimits(Long.MAX_VALUE, SourceTurns.MOST_BEGUN_BYTES);

    /** The same, but a fetch of this age in nanoseconds is lost. */
    public FetchLimits withLostNs(long ns) {
        return new FetchLimits(ns, mostFromSourceBytes);
    }
}
