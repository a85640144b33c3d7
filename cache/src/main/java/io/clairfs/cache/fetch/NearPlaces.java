package io.clairfs.cache.fetch;

import io.clairfs.cache.placement.ResidentSamples;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The places nearer than the source: the tiers of this node, and the peers. What a fetch from each takes, and the fetch itself.
 *
 * <p>Thread-safe without a lock of its own. It decides nothing: {@link CheapestPlace} does.
 */
final class NearPlaces {
    private static final double NANOS_PER_SECOND = 1e9;

    /** So many fetches from a tier of this node make it known. */
    private static final int NEW_FETCHES = 64;

    private final ResidentSamples residents;
    private final List<Tier> tiers;
    private final List<Place.Local> places;
    private final PeerFetch peers;
    private final ObservedRates rates;
    private final PeerCosts peerCosts;
    private final Counters counters;
    private final LongSupplier clockNs;

    /** {@code clockNs} is as {@link System#nanoTime}. */
    NearPlaces(
            ResidentSamples residents, PeerFetch peers, ObservedRates rates, Counters counters, LongSupplier clockNs) {
        this.residents = residents;
        this.peers = peers;
        this.rates = rates;
        this.counters = counters;
        this.clockNs = clockNs;
        peerCosts = new PeerCosts(rates, clockNs);
        tiers = residents.tiers();
        places = IntStream.range(0, tiers.size()).mapToObj(Place.Local::new).toList();
    }

    /**
     * A place that should have a sample.
     *
     * @param seconds until the sample would be here; what a home takes to fetch it first does not count, for the source has to be read by
     *     somebody
     * @param rank the smaller goes first
     * @param holder null for a tier of this node
     */
    record Near(Place place, double seconds, double rank, PeerFetch.@Nullable Holder holder) {
        private static Near quicker(@Nullable Near best, Near other) {
            return best == null || other.rank < best.rank ? other : best;
        }

        /** Whether it is a home that has to fetch the sample first. */
        boolean isHome() {
            return holder != null && !holder.holds();
        }
    }

    /** One sample's fetch: the places that have failed to give it, and the time that is left for peers. Used by one thread at a time. */
    final class Attempt {
        private final int file;
        private final long bytes;
        private final long sinceNs = clockNs.getAsLong();
        private final List<Place> failed = new ArrayList<>(0);

        /** Whether a peer that should have had the sample said in time that it has not. */
        private volatile boolean refused;

        private Attempt(int file, long bytes) {
            this.file = file;
            this.bytes = bytes;
        }

        /** Asks no slower tier of this node: one of them may hang. */
        void passSlowerTiersOver() {
            failed.addAll(places.subList(1, places.size()));
        }

        private long leftForPeersNs() {
            return peers.mostNs(bytes) - (clockNs.getAsLong() - sinceNs);
        }

        /** The quickest place that should have the sample and has not failed to give it; null if only the source is left. */
        @Nullable
        Near nearest() {
            Near best = null;
            for (Place.Local place : places) {
                if (tiers.get(place.storageClass()).contains(file) && !failed.contains(place)) {
                    double seconds = rates.fetchSeconds(place, bytes);
                    best = Near.quicker(best, new Near(place, seconds, seconds, null));
                }
            }
            return peers.mayHave(file) && leftForPeersNs() > 0 ? nearestPeer(best) : best;
        }

        /** Whether a peer should have the sample, and none has denied it: it was too slow to be asked, is left alone, or was late. */
        boolean passesPeersOver() {
            return !refused && peers.mayHave(file);
        }

        /** Whether a tier of this node has the sample and was not asked: it was too slow. */
        boolean passesTiersOver() {
            for (Place.Local place : places) {
                if (tiers.get(place.storageClass()).contains(file) && !failed.contains(place)) {
                    return true;
                }
            }
            return false;
        }

        private @Nullable Near nearestPeer(@Nullable Near tier) {
            Near best = tier;
            for (PeerFetch.Holder holder : peers.holders(file)) {
                if (!failed.contains(holder.place())) {
                    double seconds = peerCosts.seconds(holder.place(), bytes);
                    double rank = holder.holds() ? seconds : seconds + rates.fetchSeconds(Place.SOURCE, bytes);
                    best = Near.quicker(best, new Near(holder.place(), seconds, rank, holder));
                }
            }
            return best;
        }

        /**
         * Fetches the sample from there; a place that does not give it has failed.
         *
         * @param patienceSeconds how long to wait for a peer at most
         * @param bringsSeconds the part of that in which a home may fetch the sample
         */
        Given from(Near near, double patienceSeconds, double bringsSeconds) {
            Given given = switch (near.place) {
                case Place.Local(int tier) -> fromTier(tier);
                case Place.Peer peer
                when near.holder != null -> fromPeer(peer, near.holder, patienceSeconds, bringsSeconds);
                default -> throw new AssertionError(near);
            };
            if (given.sample == null) {
                failed.add(near.place);
            }
            return given;
        }

        private Given fromTier(int tier) {
            long start = System.nanoTime();
            SampleBuffer buffer = residents.get(tier, file);
            long tookNs = System.nanoTime() - start;
            if (buffer != null) {
                rates.record(places.get(tier), bytes, tookNs);
                (tier == 0 ? counters.fromMemory : counters.fromSsd).add(bytes);
            }
            return new Given(buffer, tookNs / NANOS_PER_SECOND);
        }

        private Given fromPeer(Place.Peer peer, PeerFetch.Holder holder, double patienceSeconds, double bringsSeconds) {
            PeerCosts.Asked asked = peerCosts.ask(peer, bytes);
            long withinNs = withinNs(patienceSeconds);
            long dueNs = clockNs.getAsLong() + withinNs;
            try {
                return given(asked, dueNs, holder.fetch(withinNs), patienceSeconds, bringsSeconds);
            } finally {
                asked.end();
            }
        }

        /**
         * Room on the path to a peer that holds the sample, if the peer would send it without a pause, right behind what it owes already; else
         * null. It is for {@link #ask}, or the caller {@linkplain PeerCosts.Asked#end gives it back}.
         */
        PeerCosts.@Nullable Asked room(Near near) {
            return near.place instanceof Place.Peer peer && near.holder != null
                    ? peerCosts.askWithin(peer, bytes, near.holder.windowBytes())
                    : null;
        }

        /**
         * Asks a peer that holds the sample, and waits for nothing. Completes normally, on a thread that must not be kept. A peer that does not
         * give it has failed only when the caller {@linkplain #failed says so}.
         */
        CompletableFuture<Given> ask(Near near, PeerCosts.Asked asked, double patienceSeconds) {
            if (near.holder == null) {
                throw new AssertionError(near);
            }
            long withinNs = withinNs(patienceSeconds);
            long dueNs = clockNs.getAsLong() + withinNs;
            return near.holder.ask(withinNs).thenApply(delivery -> {
                asked.end();
                return given(asked, dueNs, delivery, patienceSeconds, 0);
            });
        }

        void failed(Near near) {
            failed.add(near.place);
        }

        private long withinNs(double patienceSeconds) {
            return Math.min(leftForPeersNs(), (long) (NANOS_PER_SECOND * patienceSeconds));
        }

        private Given given(
                PeerCosts.Asked asked,
                long dueNs,
                PeerFetch.@Nullable Delivery delivery,
                double patienceSeconds,
                double bringsSeconds) {
            if (delivery == null) {
                if (clockNs.getAsLong() - dueNs < 0) {
                    refused = true;
                }
                asked.failed((long) (NANOS_PER_SECOND * bringsSeconds));
                return new Given(null, patienceSeconds);
            }
            double seconds = asked.delivered(delivery.broughtNs());
            counters.fromPeerTook.record((long) (NANOS_PER_SECOND * seconds) + delivery.broughtNs());
            counters.fromPeer.add(bytes);
            return new Given(delivery.sample(), seconds);
        }
    }

    /** What a place gave, null if nothing, and how long it took beside a home's own fetch from the source. */
    record Given(@Nullable SampleBuffer sample, double seconds) {}

    Attempt attempt(int file, long bytes) {
        return new Attempt(file, bytes);
    }

    /** Whether little is known of a place yet. */
    boolean isNew(Place place) {
        return place instanceof Place.Peer peer
                ? peerCosts.isNew(peer)
                : place instanceof Place.Local && rates.fetches(place) < NEW_FETCHES;
    }

    /** Seconds for a fetch from there by the model alone. */
    double modelSeconds(Place place, long bytes) {
        return rates.modelSeconds(place, bytes);
    }

    /** Seconds within which nearly all fetches from this peer end. */
    double usualWorstSeconds(Place place, long bytes) {
        return place instanceof Place.Peer peer ? peerCosts.usualWorstSeconds(peer, bytes) : 0;
    }

    /** What was seen of a place no longer holds. */
    void forget(Place place) {
        if (place instanceof Place.Peer peer) {
            peerCosts.forget(peer);
        } else {
            rates.forget(place);
        }
    }
}
