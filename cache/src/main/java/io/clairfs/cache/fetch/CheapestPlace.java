package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.ResidentSamples;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The cheapest place that has a sample: memory, a slower tier, a peer or the source.
 *
 * <p>The performance model, corrected by recent fetches, says how long each place takes (NoPFS section 4: the fastest applicable of the three
 * cases of fetch). All nodes share the source, so a nearer place is preferred to it while that costs nobody any time: if it is no slower, or if
 * the trainer does not wait for the sample meanwhile ({@link FetchRequest#spareSeconds}). So a group is not slower than its nodes alone, and
 * reads of the source what its nodes cannot give each other in time. A peer that is later than it usually is at its worst is given up. A
 * place that fails to give the sample is passed over, and when the source fails, all others are tried. Thread-safe without a lock.
 */
final class CheapestPlace {
    /** A place as quick as this is preferred to the source, however quick that is: with 16 loaders it keeps up with what can be staged. */
    private static final double QUICK_SECONDS = 0.001;

    /**
     * How late an answer may be without any reason but a busy machine, or a program or a connection that has just begun: so many seconds, but no
     * more than so many reads of the source would take, one of which is what a fetch costs that is given up in vain.
     */
    private static final double LATE_SECONDS = 0.3;

    private static final int LATE_SOURCE_READS = 50;

    /** How many times as long as usual the source may take a home that fetches a sample for us. */
    private static final int HOME_FETCH_TIMES = 4;

    /** A peer on trial is given up after so many times the time that would pass it. */
    private static final int TRIAL_TIMES = 2;

    /** So many peers are asked for one sample: a reader must have time left for the source. */
    private static final int MOST_PEERS_ASKED = 3;

    private static final double NANOS_PER_SECOND = 1e9;

    private final DatasetTree tree;
    private final Source source;
    private final ResidentSamples residents;
    private final List<Tier> tiers;
    private final PeerFetch peers;
    private final ObservedRates rates;
    private final SourceGate gate;
    private final Counters counters;
    private final List<Place.Local> places;
    private final PeerCosts peerCosts;
    private final PlacesOnTrial trials;

    CheapestPlace(
            DatasetTree tree,
            Source source,
            ResidentSamples residents,
            PeerFetch peers,
            ObservedRates rates,
            SourceGate gate,
            Counters counters,
            LongSupplier clockNs) {
        this.tree = tree;
        this.source = source;
        this.residents = residents;
        this.peers = peers;
        this.rates = rates;
        this.gate = gate;
        this.counters = counters;
        peerCosts = new PeerCosts(rates, clockNs);
        trials = new PlacesOnTrial(clockNs);
        tiers = residents.tiers();
        places = IntStream.range(0, tiers.size()).mapToObj(Place.Local::new).toList();
    }

    /**
     * A place nearer than the source that should have a sample.
     *
     * @param seconds until the sample would be here; what a home takes to fetch it first does not count, for the source has to be read by
     *     somebody
     * @param rank the smaller goes first
     * @param holder null for a tier of this node
     */
    private record Near(Place place, double seconds, double rank, PeerFetch.@Nullable Holder holder) {
        static Near quicker(@Nullable Near best, Near other) {
            return best == null || other.rank < best.rank ? other : best;
        }
    }

    /** The place from which this file would be fetched now for somebody who waits. */
    Place of(int file, long bytes) {
        if (residents.isInMemory(file)) {
            return places.getFirst();
        }
        Near near = nearest(file, bytes, Set.of());
        return near != null && near.seconds <= sourceSeconds(bytes) ? near.place : Place.SOURCE;
    }

    private double sourceSeconds(long bytes) {
        return Math.max(QUICK_SECONDS, rates.fetchSeconds(Place.SOURCE, bytes));
    }

    private double lateSeconds(long bytes) {
        return Math.min(LATE_SECONDS, LATE_SOURCE_READS * sourceSeconds(bytes));
    }

    /** The quickest place that should have the sample and has not failed to give it; null if only the source is left. */
    private @Nullable Near nearest(int file, long bytes, Set<Place> failed) {
        Near best = null;
        for (Place.Local place : places) {
            if (tiers.get(place.storageClass()).contains(file) && !failed.contains(place)) {
                double seconds = rates.fetchSeconds(place, bytes);
                best = Near.quicker(best, new Near(place, seconds, seconds, null));
            }
        }
        if (peers.mayHave(file) && countPeers(failed) < MOST_PEERS_ASKED) {
            for (PeerFetch.Holder holder : peers.holders(file)) {
                if (!failed.contains(holder.place())) {
                    double seconds = peerCosts.seconds(holder.place(), bytes);
                    double rank = holder.holds() ? seconds : seconds + sourceSeconds(bytes);
                    best = Near.quicker(best, new Near(holder.place(), seconds, rank, holder));
                }
            }
        }
        return best;
    }

    private static long countPeers(Set<Place> places) {
        return places.stream().filter(Place.Peer.class::isInstance).count();
    }

    /** The sample from its cheapest place, with a reference for the caller. Blocks for as long as the place takes. */
    SampleBuffer fetch(int file, SampleFlight flight, FetchRequest request) throws SourceException {
        SourceFile from = tree.entry(file).file();
        long bytes = from.size();
        Set<Place> failed = new HashSet<>();
        for (Near near = nearest(file, bytes, failed); near != null; near = nearest(file, bytes, failed)) {
            double most = sourceSeconds(bytes);
            if (near.seconds > most && request.urgency() != FetchUrgency.READER) {
                most = Math.max(
                        most,
                        Math.max(
                                patience(near.place, bytes),
                                request.spareSeconds().getAsDouble()));
            }
            SampleBuffer buffer;
            if (near.seconds <= most) {
                buffer = fromNear(near, file, bytes, most, false).sample;
            } else if (request.urgency() != FetchUrgency.READER && trials.begin(near.place)) {
                buffer = tryNear(near, file, bytes, most);
            } else {
                break;
            }
            if (buffer != null) {
                return buffer;
            }
            failed.add(near.place);
        }
        try {
            return fromSource(from, flight);
        } catch (SourceException e) {
            SampleBuffer buffer = fromAnyNear(file, bytes, failed);
            if (buffer == null) {
                throw e;
            }
            return buffer;
        }
    }

    /** How long a place may take because little is known of it, seconds. */
    private double patience(Place place, long bytes) {
        return place instanceof Place.Peer peer && peerCosts.isNew(peer) ? lateSeconds(bytes) : 0;
    }

    /** Tries a place that seems too slow, which a reader is never made to wait for. */
    private @Nullable SampleBuffer tryNear(Near near, int file, long bytes, double mostSeconds) {
        boolean quick = false;
        try {
            Given given = fromNear(near, file, bytes, mostSeconds, true);
            quick = given.sample != null && given.seconds <= mostSeconds;
            return given.sample;
        } finally {
            if (trials.end(near.place, quick)) {
                forget(near.place);
            }
        }
    }

    private void forget(Place place) {
        if (place instanceof Place.Peer peer) {
            peerCosts.forget(peer);
        } else {
            rates.forget(place);
        }
    }

    /** The sample from places that seemed too slow; null when none gives it. */
    private @Nullable SampleBuffer fromAnyNear(int file, long bytes, Set<Place> failed) {
        for (Near near = nearest(file, bytes, failed); near != null; near = nearest(file, bytes, failed)) {
            SampleBuffer buffer = fromNear(near, file, bytes, Double.POSITIVE_INFINITY, false).sample;
            if (buffer != null) {
                return buffer;
            }
            failed.add(near.place);
        }
        return null;
    }

    /** What a place gave, null if nothing, and the seconds that it took. */
    private record Given(@Nullable SampleBuffer sample, double seconds) {}

    private Given fromNear(Near near, int file, long bytes, double mostSeconds, boolean onTrial) {
        return switch (near.place) {
            case Place.Local(int tier) -> fromTier(tier, file, bytes);
            case Place.Peer peer when near.holder != null -> fromPeer(peer, near.holder, bytes, mostSeconds, onTrial);
            default -> throw new AssertionError(near);
        };
    }

    private Given fromTier(int tier, int file, long bytes) {
        long start = System.nanoTime();
        SampleBuffer buffer = residents.get(tier, file);
        long tookNs = System.nanoTime() - start;
        if (buffer != null) {
            rates.record(places.get(tier), bytes, tookNs);
            (tier == 0 ? counters.fromMemory : counters.fromSsd).add(bytes);
        }
        return new Given(buffer, tookNs / NANOS_PER_SECOND);
    }

    private Given fromPeer(Place.Peer peer, PeerFetch.Holder holder, long bytes, double mostSeconds, boolean onTrial) {
        double sourceSeconds = sourceSeconds(bytes);
        double late = lateSeconds(bytes);
        double brings = holder.holds() ? 0 : HOME_FETCH_TIMES * sourceSeconds + late;
        double patience = onTrial
                ? TRIAL_TIMES * mostSeconds
                : Math.max(mostSeconds, peerCosts.usualWorstSeconds(peer, bytes)) + sourceSeconds + late;
        PeerCosts.Asked asked = peerCosts.ask(peer, bytes);
        try {
            PeerFetch.Delivery delivery = holder.fetch((long) (NANOS_PER_SECOND * (patience + brings)));
            if (delivery == null) {
                asked.failed((long) (NANOS_PER_SECOND * brings));
                return new Given(null, patience);
            }
            double seconds = asked.delivered(delivery.broughtNs());
            counters.fromPeerTook.record((long) (NANOS_PER_SECOND * seconds) + delivery.broughtNs());
            counters.fromPeer.add(bytes);
            return new Given(delivery.sample(), seconds);
        } finally {
            asked.end();
        }
    }

    private SampleBuffer fromSource(SourceFile from, SampleFlight flight) throws SourceException {
        SampleBuffer buffer = SampleBuffer.allocate(from.size());
        long start = System.nanoTime();
        try (SourceGate.Pass pass = flight.enter(gate, buffer)) {
            source.read(from, buffer.bytes(), at -> {
                if (at == from.size()) {
                    fetchedFromSource(at, System.nanoTime() - start); // before the readers are told
                    flight.bytesArrived();
                }
                long piece = pass.next(at);
                if (at == 0 && flight.isUnwanted()) {
                    throw new UnwantedException();
                }
                return piece;
            });
            return buffer;
        } catch (Throwable t) {
            flight.leave();
            buffer.release();
            throw t;
        }
    }

    private void fetchedFromSource(long bytes, long tookNs) {
        rates.record(Place.SOURCE, bytes, tookNs);
        counters.fromSourceTook.record(tookNs);
        counters.fromSource.add(bytes);
    }
}
