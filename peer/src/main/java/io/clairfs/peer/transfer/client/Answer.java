package io.clairfs.peer.transfer.client;

import io.clairfs.cache.tier.SampleBuffer;

/** A peer's answer to a request for a sample. */
public sealed interface Answer {
    /** The sample, whole and with its checksum verified; the reference is the receiver's, who releases it. */
    record Got(SampleBuffer sample) implements Answer {}

    /** The peer does not have it (any more): an ordinary answer. */
    record NotHere() implements Answer {}

    /** The peer did not give it in time; try another place. The reason is one line for a log. */
    record Failed(String reason) implements Answer {}
}
