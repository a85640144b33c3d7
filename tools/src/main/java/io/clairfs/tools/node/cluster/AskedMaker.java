package io.clairfs.tools.node.cluster;

import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.peer.directory.SpareThreads;
import io.clairfs.peer.transfer.client.Peer;
import org.jspecify.annotations.Nullable;

/**
 * A peer that may be asked to make one sample.
 *
 * @param spare what it said of its threads last
 * @param number that of the sample in the group
 * @param bytes the size of the source's file
 */
record AskedMaker(Peer peer, Place.Peer place, SpareThreads spare, int number, long bytes) implements PeerFetch.Maker {
    @Override
    public int threads() {
        return spare.threads();
    }

    @Override
    public int busy() {
        return spare.busy();
    }

    @Override
    public PeerFetch.@Nullable Delivery make(long withinNs) {
        return AskedPeer.delivery(peer.make(number, bytes, System.nanoTime() + withinNs));
    }
}
