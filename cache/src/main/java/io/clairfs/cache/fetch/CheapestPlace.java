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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The cheapest place that has a sample: memory, a slower tier, a peer or the source.
 *
 * <p>The performance model says which is cheapest (NoPFS section 4: the fastest applicable of the three cases of fetch), corrected by
 * recent fetches. A place that fails to give the sample is passed over. The source comes last, and its failure is the caller's. Thread-safe
 * without a lock.
 */
final class CheapestPlace {
    /**
     * The factor on the time of a fetch from the source: other readers share the source, and wait longer for it. It also keeps a place of
     * about the same speed from being passed over in turns.
     */
    private static final double SOURCE_IS_SHARED = 4;

    /**
     * How much longer than the source a peer may take. A sample that a peer has, or should have, is best left to it: the plan exists to
     * avoid second reads of the source. Slower peers are on trial; a peer that does not answer is left alone by other means.
     */
    private static final double PEER_PATIENCE_SECONDS = 1;

    private static final double NANOS_PER_SECOND = 1e9;

    private final DatasetTree tree;
    private final Source source;
    private final ResidentSamples residents;
    private final List<Tier> tiers;
    private final PeerFetch peers;
    private final ObservedRates rates;
    private final SourceGate gate;
    private final Counters counters;
    private final List<Place> places;
    private final PeersOnTrial trial = new PeersOnTrial();

    CheapestPlace(
            DatasetTree tree,
            Source source,
            ResidentSamples residents,
            PeerFetch peers,
            ObservedRates rates,
            SourceGate gate,
            Counters counters) {
        this.tree = tree;
        this.source = source;
        this.residents = residents;
        this.peers = peers;
        this.rates = rates;
        this.gate = gate;
        this.counters = counters;
        tiers = residents.tiers();
        places = IntStream.range(0, tiers.size())
                .<Place>mapToObj(Place.Local::new)
                .toList();
    }

    /** The place from which this file would be fetched now. */
    Place of(int file, long bytes) {
        return residents.isInMemory(file) ? places.getFirst() : of(file, bytes, Set.of());
    }

    /** The cheapest place that should have the sample and has not failed to give it; the source has all samples. */
    private Place of(int file, long bytes, Set<Place> failed) {
        Place best = Place.SOURCE;
        double least = SOURCE_IS_SHARED * rates.fetchSeconds(Place.SOURCE, bytes);
        for (int tier = 0; tier < places.size(); tier++) {
            Place place = places.get(tier);
            if (tiers.get(tier).contains(file) && !failed.contains(place)) {
                double seconds = rates.fetchSeconds(place, bytes);
                if (seconds < least) {
                    least = seconds;
                    best = place;
                }
            }
        }
        if (failed.contains(Place.PEER) || !peers.mayHave(file)) {
            return best;
        }
        double fromPeer = rates.fetchSeconds(Place.PEER, bytes);
        double most = best.equals(Place.SOURCE) ? least + PEER_PATIENCE_SECONDS : least;
        return fromPeer < most ? Place.PEER : best;
    }

    /** The sample from its cheapest place, with a reference for the caller. Blocks for as long as the place takes. */
    SampleBuffer fetch(int file, SampleFlight flight) throws SourceException {
        SourceFile from = tree.entry(file).file();
        Set<Place> failed = Set.of();
        while (true) {
            Place place = of(file, from.size(), failed);
            SampleBuffer buffer = switch (place) {
                case Place.Source() -> {
                    boolean slowPeers = !failed.contains(Place.PEER) && peers.mayHave(file);
                    SampleBuffer tried = slowPeers ? fromSlowPeers(file, from.size()) : null;
                    yield tried == null ? fromSource(from, flight) : tried;
                }
                case Place.Peer() -> fromPeers(file, from.size());
                case Place.Local(int tier) -> fromTier(tier, file, from.size());
            };
            if (buffer != null) {
                return buffer;
            }
            failed = new HashSet<>(failed);
            failed.add(place);
        }
    }

    private @Nullable SampleBuffer fromTier(int tier, int file, long bytes) {
        long start = System.nanoTime();
        SampleBuffer buffer = residents.get(tier, file);
        if (buffer != null) {
            rates.record(places.get(tier), bytes, System.nanoTime() - start);
            (tier == 0 ? counters.fromMemory : counters.fromSsd).add(bytes);
        }
        return buffer;
    }

    private @Nullable SampleBuffer fromPeers(int file, long bytes) {
        long start = System.nanoTime();
        SampleBuffer buffer = peers.fetch(file);
        if (buffer != null) {
            long tookNs = System.nanoTime() - start;
            rates.record(Place.PEER, bytes, tookNs);
            counters.fromPeerTook.record(tookNs);
            counters.fromPeer.add(bytes);
        }
        return buffer;
    }

    /** Fetches from peers that seem too slow, unless another fetch is asking them. */
    private @Nullable SampleBuffer fromSlowPeers(int file, long bytes) {
        if (!trial.begin()) {
            return null;
        }
        boolean quick = false;
        try {
            long start = System.nanoTime();
            SampleBuffer buffer = fromPeers(file, bytes);
            double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
            quick = buffer != null && seconds < PEER_PATIENCE_SECONDS + rates.fetchSeconds(Place.SOURCE, bytes);
            return buffer;
        } finally {
            if (trial.end(quick)) {
                rates.forget(Place.PEER);
            }
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
