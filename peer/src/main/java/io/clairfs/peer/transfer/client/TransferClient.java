package io.clairfs.peer.transfer.client;

import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Fetches samples from other nodes: one {@link Peer} for each, connected when it is first asked. */
public final class TransferClient implements AutoCloseable {
    private final Credentials credentials;
    private final TransferLimits limits;
    private final TransferThreads threads;
    private final FetchCounters counters = new FetchCounters();
    private final FairShare share;
    private final ConcurrentHashMap<InetSocketAddress, Peer> peers = new ConcurrentHashMap<>();

    public TransferClient(Credentials credentials, TransferLimits limits, TransferThreads threads) {
        this.credentials = credentials;
        this.limits = limits;
        this.threads = threads;
        share = new FairShare(limits.windows().allPeersBytes(), limits.windows().leastBytes());
    }

    /** The peer whose server listens at {@code address}, the same one every time; null when there are already as many as the limits allow. */
    public @Nullable Peer peer(InetSocketAddress address) {
        Peer known = peers.get(address);
        if (known != null) {
            return known;
        }
        if (peers.size() >= limits.counts().peers()) {
            return null;
        }
        return peers.computeIfAbsent(address, at -> new Peer(at, credentials, limits, threads, counters, share));
    }

    /**
     * Forgets all peers but those at {@code addresses}; requests to the others fail soon. Never waits. {@link #peer} makes a new peer
     * for a forgotten address, until this is called again.
     */
    public void keepOnly(Collection<InetSocketAddress> addresses) {
        peers.forEach((address, peer) -> {
            if (!addresses.contains(address) && peers.remove(address, peer)) {
                var _ = peer.end();
            }
        });
    }

    /** The peers that it knows. */
    public Collection<Peer> peers() {
        return List.copyOf(peers.values());
    }

    public FetchCounters counters() {
        return counters;
    }

    /** Ends all connections; everything outstanding fails. Not to be called on an event loop. */
    @Override
    public void close() {
        peers.values().forEach(Peer::close);
        peers.clear();
    }
}
