package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The other nodes, as places to fetch samples from.
 *
 * <p>A local copy says what they hold: {@link #mayHave} and {@link #holders} send no request. A peer that does not answer in time, answers
 * garbage, or no longer has the sample, is no error: the sample then comes from elsewhere.
 */
public interface PeerFetch {
    /** No peers. */
    PeerFetch NONE = new PeerFetch() {
        @Override
        public boolean mayHave(int file) {
            return false;
        }

        @Override
        public List<Holder> holders(int file) {
            return List.of();
        }

        @Override
        public long mostNs(long bytes) {
            return 0;
        }
    };

    /** Whether {@link #holders} has any. */
    boolean mayHave(int file);

    /** The peers, of those that are not left alone, that are known to hold the sample, and its home; each once. */
    List<Holder> holders(int file);

    /** The peers that make samples for others now, each once. None of them need have the source's file. */
    default List<Maker> makers(int file) {
        return List.of();
    }

    /** How long all peers together may take for a sample of so many bytes: a reader must have time left for the source. */
    long mostNs(long bytes);

    /** A peer that can be asked for a sample. */
    interface Holder {
        Place.Peer place();

        /** Whether it is known to hold the sample. If not, it is its home, and fetches it first. */
        boolean holds();

        /** The whole sample, verified; null when the peer did not give it within {@code withinNs}. Blocks until then, and may give up sooner. */
        @Nullable
        Delivery fetch(long withinNs);

        /**
         * Asks for the whole sample and waits for nothing. Always completes normally, {@code withinNs} later or hardly more, with null when the
         * peer did not give the sample; on a thread that must not be kept.
         */
        CompletableFuture<@Nullable Delivery> ask(long withinNs);

        /** So many bytes may be on their way from the peer at once: they keep its path busy, and an answer waits for few others. */
        long windowBytes();
    }

    /** A peer that can be asked to make one sample by the view. */
    interface Maker {
        Place.Peer place();

        /** With how many threads it makes samples. */
        int threads();

        /** How many samples it had taken on, for all peers, when it last said so. */
        int busy();

        /** The sample as {@link Holder#fetch} gives it, made by the peer unless it has it. It is null soon if the peer has enough to do. */
        @Nullable
        Delivery make(long withinNs);
    }

    /**
     * A sample from a peer.
     *
     * @param sample with a reference for the receiver
     * @param broughtNs how long the peer took to get it from the source; 0 if it had it
     */
    record Delivery(SampleBuffer sample, long broughtNs) {}
}
