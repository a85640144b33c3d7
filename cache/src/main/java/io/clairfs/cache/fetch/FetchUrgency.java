package io.clairfs.cache.fetch;

/** How soon a fetched sample is needed, the most urgent first. */
public enum FetchUrgency {
    /** A reader waits for it. */
    READER,
    /** Another node waits for it, with a reader behind it perhaps. */
    PEER,
    /** It is staged before the trainer, in the order of positions. */
    STAGING,
    /** It fills a tier ahead of that. */
    FILLING;

    boolean isMoreUrgentThan(FetchUrgency other) {
        return compareTo(other) < 0;
    }
}
