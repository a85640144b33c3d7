package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a fetch from each peer takes: its tier, the path to it, and what it owes us already.
 *
 * <p>The line of {@link ObservedRates} is fitted to times over the bytes that were asked of the peer and not answered yet, the sample's own
 * among them. So its slope is the rate of the path, and a request behind others is expected later. The time in which a peer fetches a sample
 * from the source does not count: that is the source's.
 *
 * <p>Thread-safe. Its one lock, per peer, is the innermost.
 */
final class PeerCosts {
    /** The weight of the newest deviation, and how many deviations above the expected time are usual: RFC 6298, section 2. */
    private static final double NEWEST_WEIGHS = 1.0 / 4;

    private static final int USUAL_DEVIATIONS = 4;

    /** The deviation of a peer that was never asked. */
    private static final double UNPROVEN_SECONDS = 0.025;

    /** So many answers, or failures to answer, make a peer known. */
    private static final int NEW_ANSWERS = 64;

    private static final double NANOS_PER_SECOND = 1e9;

    private final ObservedRates rates;
    private final LongSupplier clockNs;
    private final ConcurrentHashMap<Place.Peer, Known> peers = new ConcurrentHashMap<>();

    /** {@code clockNs} is as {@link System#nanoTime}. */
    PeerCosts(ObservedRates rates, LongSupplier clockNs) {
        this.rates = rates;
        this.clockNs = clockNs;
    }

    /** One peer. The last two fields are guarded by itself. */
    private static final class Known {
        final AtomicLong owed = new AtomicLong();
        double deviation = UNPROVEN_SECONDS;
        int answers;
    }

    private Known of(Place.Peer peer) {
        return peers.computeIfAbsent(peer, _ -> new Known());
    }

    /** Seconds until a sample of so many bytes that the peer holds would be here. */
    double seconds(Place.Peer peer, long bytes) {
        return rates.fetchSeconds(peer, of(peer).owed.get() + bytes);
    }

    /** Whether it has given few samples so far. */
    boolean isNew(Place.Peer peer) {
        Known known = of(peer);
        synchronized (known) {
            return known.answers < NEW_ANSWERS;
        }
    }

    /** Seconds within which nearly all such fetches end. */
    double usualWorstSeconds(Place.Peer peer, long bytes) {
        Known known = of(peer);
        double expected = rates.fetchSeconds(peer, known.owed.get() + bytes);
        synchronized (known) {
            return expected + USUAL_DEVIATIONS * known.deviation;
        }
    }

    /** A fetch from a peer that is under way, used by one thread at a time. */
    final class Asked {
        private final Place.Peer peer;
        private final Known known;
        private final long bytes;
        private final long bytesAsked;
        private final long startNs = clockNs.getAsLong();
        private boolean ended;

        private Asked(Place.Peer peer, long bytes, long bytesAsked) {
            this.peer = peer;
            this.bytes = bytes;
            this.bytesAsked = bytesAsked;
            known = of(peer);
        }

        /** The sample is here. Returns how long it took beside the peer's own fetch from the source, seconds. */
        double delivered(long broughtNs) {
            long tookNs = tookNs(broughtNs);
            deviated(Math.abs(tookNs / NANOS_PER_SECOND - rates.fetchSeconds(peer, bytesAsked)));
            rates.record(peer, bytesAsked, tookNs);
            return tookNs / NANOS_PER_SECOND;
        }

        /** The peer has not given it so far: news only if that is later than was expected. */
        void failed(long broughtNs) {
            long tookNs = tookNs(broughtNs);
            double later = tookNs / NANOS_PER_SECOND - rates.fetchSeconds(peer, bytesAsked);
            if (later > 0) {
                deviated(later);
                rates.record(peer, bytesAsked, tookNs);
            }
        }

        private long tookNs(long broughtNs) {
            return Math.max(0, clockNs.getAsLong() - startNs - broughtNs);
        }

        private void deviated(double seconds) {
            synchronized (known) {
                known.answers = Math.min(NEW_ANSWERS, known.answers + 1);
                known.deviation += NEWEST_WEIGHS * (seconds - known.deviation);
            }
        }

        /** The peer owes it no longer; may be called twice. */
        void end() {
            if (!ended) {
                ended = true;
                known.owed.addAndGet(-bytes);
            }
        }
    }

    /** Begins a fetch of so many bytes; the caller {@linkplain Asked#end ends} it. */
    Asked ask(Place.Peer peer, long bytes) {
        return new Asked(peer, bytes, of(peer).owed.addAndGet(bytes));
    }

    /** The same if the peer would not owe more than {@code mostBytes} then, or nothing before; else null. */
    @Nullable
    Asked askWithin(Place.Peer peer, long bytes, long mostBytes) {
        AtomicLong owed = of(peer).owed;
        long before = owed.get();
        while (before == 0 || before + bytes <= mostBytes) {
            long witness = owed.compareAndExchange(before, before + bytes);
            if (witness == before) {
                return new Asked(peer, bytes, before + bytes);
            }
            before = witness;
        }
        return null;
    }

    /** What was seen of the peer no longer holds. */
    void forget(Place.Peer peer) {
        Known known = of(peer);
        synchronized (known) {
            known.deviation = UNPROVEN_SECONDS;
        }
        rates.forget(peer);
    }
}
