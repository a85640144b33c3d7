package io.clairfs.peer.transfer.client;

import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Fetches samples from other nodes: one {@link Peer} for each, connected when it is first asked. */
public final class TransferClient implements AutoCloseable {
    private final Rail.Means means;
    private final List<InetAddress> from;
    private final ConcurrentHashMap<List<InetSocketAddress>, Peer> peers = new ConcurrentHashMap<>();

    /** A client whose connections begin at whichever address the system takes. */
    public TransferClient(Credentials credentials, TransferLimits limits, TransferThreads threads) {
        this(credentials, limits, threads, List.of());
    }

    /** A client whose connections to the first rail of each peer begin at the first of these addresses, and so on. */
    public TransferClient(
            Credentials credentials, TransferLimits limits, TransferThreads threads, List<InetAddress> from) {
        FairShare share =
                new FairShare(limits.windows().allPeersBytes(), limits.windows().leastBytes());
        means = new Rail.Means(credentials, limits, threads, new FetchCounters(), share);
        this.from = List.copyOf(from);
    }

    /** The peer whose server listens at {@code address} alone; as {@link #peer(List)}. */
    public @Nullable Peer peer(InetSocketAddress address) {
        return peer(List.of(address));
    }

    /**
     * The peer whose server listens at these addresses, one at least, each of them a rail: the same one every time; null when there are already as
     * many as the limits allow.
     */
    public @Nullable Peer peer(List<InetSocketAddress> addresses) {
        Peer known = peers.get(addresses);
        if (known != null) {
            return known;
        }
        if (peers.size() >= means.limits().counts().peers()) {
            return null;
        }
        return peers.computeIfAbsent(List.copyOf(addresses), at -> new Peer(at, from, means));
    }

    /**
     * Forgets all peers but those at {@code addresses}; requests to the others fail soon. Never waits. {@link #peer} makes a new peer
     * for forgotten addresses, until this is called again.
     */
    public void keepOnly(Collection<List<InetSocketAddress>> addresses) {
        peers.forEach((at, peer) -> {
            if (!addresses.contains(at) && peers.remove(at, peer)) {
                var _ = peer.end();
            }
        });
    }

    /** The peers that it knows. */
    public Collection<Peer> peers() {
        return List.copyOf(peers.values());
    }

    public FetchCounters counters() {
        return means.counters();
    }

    /** Ends all connections; everything outstanding fails. Not to be called on an event loop. */
    @Override
    public void close() {
        peers.values().forEach(Peer::close);
        peers.clear();
    }
}
