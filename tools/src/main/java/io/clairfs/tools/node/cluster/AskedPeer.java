package io.clairfs.tools.node.cluster;

import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A peer that may be asked for one sample. */
final class AskedPeer implements PeerFetch.Holder {
    private final Peer peer;
    private final Place.Peer place;
    private final boolean holds;
    private final int number;
    private final long bytes;

    /** {@code number} is that of the sample in the group; {@code bytes} is its size. */
    AskedPeer(Peer peer, Place.Peer place, boolean holds, int number, long bytes) {
        this.peer = peer;
        this.place = place;
        this.holds = holds;
        this.number = number;
        this.bytes = bytes;
    }

    @Override
    public Place.Peer place() {
        return place;
    }

    @Override
    public boolean holds() {
        return holds;
    }

    @Override
    public PeerFetch.@Nullable Delivery fetch(long withinNs) {
        long deadlineNs = System.nanoTime() + withinNs;
        return delivery(holds ? peer.fetch(number, bytes, deadlineNs) : peer.fetchFromHome(number, bytes, deadlineNs));
    }

    @Override
    public CompletableFuture<PeerFetch.@Nullable Delivery> ask(long withinNs) {
        long deadlineNs = System.nanoTime() + withinNs;
        CompletableFuture<Answer> answer =
                holds ? peer.ask(number, bytes, deadlineNs) : peer.askHome(number, bytes, deadlineNs);
        return answer.thenApply(AskedPeer::delivery);
    }

    /** What a peer gave; null if it was not the sample. */
    static PeerFetch.@Nullable Delivery delivery(Answer answer) {
        return switch (answer) {
            case Answer.Got(SampleBuffer sample, long broughtNs) -> new PeerFetch.Delivery(sample, broughtNs);
            case Answer.NotHere _, Answer.Failed _ -> null;
        };
    }

    @Override
    public long windowBytes() {
        return peer.windowBytes();
    }
}
