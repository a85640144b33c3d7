package io.clairfs.peer.transfer.client;

import io.clairfs.cache.tier.SampleBuffer;

/** What came of asking a peer for a sample. */
public sealed interface Answer {
    /** The sample, whole and with its checksum verified; the reference is the receiver's, who releases it. */
    record Got(SampleBuffer sample) implements Answer {}

    /** The peer does not have it (any more): an ordinary answer. */
    record NotHere() implements Answer {}

    /** It could not be had from there in time; ask somebody else. The reason is one line for a log. */
    record Failed(String reason) implements Answer {}
}
