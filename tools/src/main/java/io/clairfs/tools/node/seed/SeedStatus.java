package io.clairfs.tools.node.seed;

import org.jspecify.annotations.Nullable;

/**
 * What the search for the seed has come to.
 *
 * @param reads first reads that were collected
 * @param candidates orders that the last search has compared with them
 * @param found the order that is followed, for people; null when none is
 * @param line the keys of a job of that order; null when there is none
 * @param note why there is no search, or what became of the order found before; null if there is nothing to say
 */
public record SeedStatus(
        State state,
        int reads,
        long candidates,
        @Nullable String found,
        @Nullable String line,
        @Nullable String note) {
    /** Where the search is. */
    public enum State {
        /** The mount does not search, or a job of a user is followed. */
        OFF,
        /** There are too few reads yet. */
        COLLECTING,
        SEARCHING,
        /** A job that was found is followed. */
        FOUND,
        /** No order that is known fits the reads. */
        NONE
    }
}
