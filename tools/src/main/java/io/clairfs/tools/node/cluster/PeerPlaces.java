package io.clairfs.tools.node.cluster;

import io.clairfs.cache.plan.model.Place;
import io.clairfs.peer.transfer.client.Peer;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The place of each peer that this node has met, by which the router tells what it measured of it. It stays the same when the peer leaves and comes
 * back, or this node joins again. Thread-safe, without a lock of its own.
 */
final class PeerPlaces {
    private final ConcurrentHashMap<InetSocketAddress, Place.Peer> places = new ConcurrentHashMap<>();
    private final AtomicInteger met = new AtomicInteger();

    Place.Peer of(Peer peer) {
        return places.computeIfAbsent(peer.address(), _ -> new Place.Peer(met.getAndIncrement()));
    }
}
