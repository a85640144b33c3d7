package io.clairfs.peer.transfer.client;

import io.clairfs.cache.tier.SampleBuffer;

/** A peer's answer to a request for a sample. */
public sealed interface Answer {
    /**
     * The sample.
     *
     * @param sample whole and with its checksum verified; the reference is the receiver's, who releases it
     * @param broughtNs how long the peer took to get it from the source; 0 if it had it
     */
    record Got(SampleBuffer sample, long broughtNs) implements Answer {}

    /** The peer does not have it (any more): an ordinary answer. */
    record NotHere() implements Answer {}

    /** The peer did not give it in time; try another place. The reason is one line for a log. */
    record Failed(String reason) implements Answer {}
}
