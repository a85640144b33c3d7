package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.TierKeeper;
import io.clairfs.cache.plan.ObservedRates;
import io.clairfs.cache.plan.Place;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.Traffic;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Gets a sample from the cheapest place that has it, and outside memory at most once at a time.
 *
 * <p>The places are memory, the slower tiers, the peers and the source; which is cheapest is a question to the performance model
 * (NoPFS section 4: the fastest applicable of the three cases of fetch), refined by what fetches took lately. A place
 * that fails to give what it was thought to have is passed over; the source is the last to be asked, and its failure is the
 * caller's. Who asks for a sample that somebody else is fetching waits for that fetch, unless it has taken longer than any
 * reader would wait: then it is taken for lost, and fetched once more, for both. Calls block for as long as the source
 * takes; bounds on waiting are the caller's ({@link SampleReader}).
 */
public final class FetchRouter {
    /**
     * What a fetch from the source counts more than the time it takes: others read there too, and wait the longer for it. It also keeps
     * a place that is about as fast from being passed over in turns.
     */
    private static final double SOURCE_IS_SHARED = 4;

    /**
     * How much longer than the source a peer may take: what a peer has, or is to have, is best left to it, for what is read from the source twice is
     * what the plan is there to avoid. Peers that are slower are on trial; one that does not answer is left alone by other means.
     */
    private static final double PEER_PATIENCE_SECONDS = 1;

    private static final double NANOS_PER_SECOND = 1e9;

    private final DatasetTree tree;
    private final Source source;
    private final TierKeeper keeper;
    private final List<Tier> tiers;
    private final SamplesInUse inUse;
    private final PeerFetch peers;
    private final ObservedRates rates;
    private final List<Place> places;
    private final Counters counters;
    private final PeersOnTrial trial = new PeersOnTrial();
    private final SourceGate gate;
    private final long lostNs;
    private final ConcurrentHashMap<Integer, SampleFlight> underWay = new ConcurrentHashMap<>();

    /** A router for which fetches are never lost. */
    public FetchRouter(
            DatasetTree tree,
            Source source,
            TierKeeper keeper,
            SamplesInUse inUse,
            PeerFetch peers,
            ObservedRates rates,
            Counters counters) {
        this(tree, source, keeper, inUse, peers, rates, counters, Long.MAX_VALUE);
    }

    /** A router that takes a fetch for lost when it is so old, nanoseconds. */
    public FetchRouter(
            DatasetTree tree,
            Source source,
            TierKeeper keeper,
            SamplesInUse inUse,
            PeerFetch peers,
            ObservedRates rates,
            Counters counters,
            long lostNs) {
        this(
                tree,
                source,
                keeper,
                inUse,
                peers,
                rates,
                counters,
                lostNs,
                SourceTurns.MOST_BEGUN_BYTES,
                System::nanoTime);
    }

    /**
     * A router.
     *
     * @param lostNs how old a fetch must be to be taken for lost, nanoseconds
     * @param mostFromSource what samples under way from the source may take at once, bytes; a larger one comes alone
     * @param clockNs as {@link System#nanoTime}
     */
    public FetchRouter(
            DatasetTree tree,
            Source source,
            TierKeeper keeper,
            SamplesInUse inUse,
            PeerFetch peers,
            ObservedRates rates,
            Counters counters,
            long lostNs,
            long mostFromSource,
            LongSupplier clockNs) {
        this.lostNs = lostNs;
        gate = new SourceGate(mostFromSource, clockNs);
        this.tree = tree;
        this.source = source;
        this.keeper = keeper;
        this.tiers = keeper.tiers();
        this.inUse = inUse;
        this.peers = peers;
        this.rates = rates;
        places = IntStream.range(0, tiers.size())
                .<Place>mapToObj(Place.Local::new)
                .toList();
        this.counters = counters;
    }

    /** The sample if it is in this node's memory, with a reference for the caller. */
    @Nullable
    SampleBuffer fromMemory(int file) {
        SampleBuffer sample = keeper.fromMemory(file);
        return sample == null ? inUse.get(file) : sample;
    }

    /** The same from the tiers alone: not what somebody has in hand. */
    @Nullable
    SampleBuffer fromTiersMemory(int file) {
        return keeper.fromMemory(file);
    }

    /** As {@link TierKeeper#keepPatiently}: a sample that was fetched should not have to be fetched again. */
    public void keepPatiently(int file, SampleBuffer sample) {
        keeper.keepPatiently(file, sample);
    }

    /** Whether something nearer than the source has the sample, as far as can be told. */
    boolean isNear(int file) {
        return keeper.isHere(file) || peers.mayHave(file);
    }

    /** Whether somebody is fetching this file now. */
    public boolean isUnderWay(int file) {
        return underWay.containsKey(file);
    }

    /** How many samples wait for their turn at the source. */
    int waitingForSource() {
        return gate.waiting();
    }

    /** From where this file would be fetched now. */
    public Place cheapest(int file, long bytes) {
        return keeper.isInMemory(file) ? places.getFirst() : cheapest(file, bytes, Set.of());
    }

    /** What fetches take one loader. */
    public ObservedRates rates() {
        return rates;
    }

    /** The place of least cost that is thought to have the sample and did not fail to give it; the source has all. */
    private Place cheapest(int file, long bytes, Set<Place> failed) {
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

    /**
     * The sample with a reference for the caller; it is kept where the plan wants it.
     *
     * @param byReader whether a reader waits for it, rather than another node
     */
    public SampleBuffer fetch(int file, boolean byReader) throws SourceException {
        return fetch(file, byReader ? FetchUrgency.READER : FetchUrgency.PEER, 0);
    }

    /** The same; among equally urgent ones the smaller {@code order} goes first. */
    public SampleBuffer fetch(int file, FetchUrgency urgency, long order) throws SourceException {
        while (true) {
            try {
                return fetch(file, urgency, order, () -> true);
            } catch (UnwantedException e) {
                // A fetch that was joined ended without the source having been asked: it is made anew.
            }
        }
    }

    /** What became of the wish to fill a tier with a sample. */
    public enum Filling {
        BROUGHT,
        /** It is there, somebody else brings it, or the plan does not want it any more. */
        NOT_NEEDED,
        NO_ROOM
    }

    /** Brings a sample to a tier that wants it, with room for it taken before. */
    public Filling fill(int file, int tier) throws SourceException {
        TierKeeper.Room room = keeper.reserve(file, tier);
        if (room == null) {
            return keeper.isMissing(file, tier) && !keeper.takesMore(tier) ? Filling.NO_ROOM : Filling.NOT_NEEDED;
        }
        try (room) {
            fetch(file, FetchUrgency.FILLING, 0, () -> keeper.wants(file, tier)).release();
            return Filling.BROUGHT;
        } catch (UnwantedException e) {
            return Filling.NOT_NEEDED;
        }
    }

    private SampleBuffer fetch(int file, FetchUrgency urgency, long order, BooleanSupplier wanted)
            throws SourceException {
        boolean byReader = urgency == FetchUrgency.READER;
        while (true) {
            SampleBuffer held = held(file);
            if (held != null) {
                keepOrRelease(file, held, byReader); // a new plan may want it in another tier
                return held;
            }
            SampleFlight other = underWay.get(file);
            if (other == null || other.isLost(lostNs)) {
                SampleFlight mine = new SampleFlight(other, urgency, order, wanted);
                boolean first =
                        other == null ? underWay.putIfAbsent(file, mine) == null : underWay.replace(file, other, mine);
                if (first) {
                    return fetchAlone(file, mine, urgency);
                }
                continue;
            }
            other.urge(urgency, order);
            SampleBuffer shared = join(other.promise());
            if (shared.tryRetain()) {
                return shared;
            }
        }
    }

    /** As {@link #fromMemory}, counted: this sample need not be fetched. */
    private @Nullable SampleBuffer held(int file) {
        SampleBuffer sample = keeper.fromMemory(file);
        if (sample != null) {
            counters.fromMemory.add(sample.size());
            return sample;
        }
        return inUse.get(file);
    }

    /**
     * A sample that is being fetched, with a reference for the caller, when its bytes before {@code upTo} are there; the rest must not be touched. A reader
     * waits for it.
     *
     * @return null when nobody fetches it, or for too long
     */
    @Nullable
    CompletableFuture<SampleBuffer> arriving(int file, long upTo) {
        SampleFlight flight = underWay.get(file);
        return flight == null || flight.isLost(lostNs) ? null : flight.upTo(upTo);
    }

    private SampleBuffer fetchAlone(int file, SampleFlight flight, FetchUrgency by) throws SourceException {
        try {
            SampleBuffer buffer = held(file); // another fetch may have ended between the look and the claim
            if (buffer == null) {
                buffer = fromCheapest(file, flight);
            }
            keepOrRelease(file, buffer, by == FetchUrgency.READER);
            // Before it is no longer under way, else it would be fetched again in between.
            if (flight.isForReader()) {
                inUse.readInPieces(file, buffer);
            }
            if (by == FetchUrgency.STAGING) {
                inUse.take(file, buffer);
            }
            underWay.remove(file, flight);
            flight.arrived(buffer);
            return buffer;
        } catch (Throwable t) {
            underWay.remove(file, flight);
            flight.failed(t);
            throw t;
        }
    }

    private void keepOrRelease(int file, SampleBuffer buffer, boolean byReader) {
        try {
            keeper.fetched(file, buffer, byReader);
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
    }

    /** A fetch that filled a tier ended before the source was asked. */
    private static final class UnwantedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnwantedException() {
            super("the plan does not want it any more", null, false, false);
        }
    }

    private SampleBuffer fromCheapest(int file, SampleFlight flight) throws SourceException {
        SourceFile from = tree.entry(file).file();
        Set<Place> failed = Set.of();
        while (true) {
            Place place = cheapest(file, from.size(), failed);
            long start = System.nanoTime();
            SampleBuffer buffer = switch (place) {
                case Place.Source() -> {
                    boolean slowPeers = !failed.contains(Place.PEER) && peers.mayHave(file);
                    SampleBuffer tried = slowPeers ? fromSlowPeers(file, from.size()) : null;
                    if (tried != null) {
                        place = Place.PEER;
                        yield tried;
                    }
                    start = System.nanoTime(); // the source does not answer for peers
                    yield fromSource(from, flight);
                }
                case Place.Peer() -> peers.fetch(file);
                case Place.Local(int tier) -> keeper.get(tier, file);
            };
            if (buffer != null) {
                rates.record(place, from.size(), System.nanoTime() - start);
                traffic(place).add(from.size());
                return buffer;
            }
            failed = new HashSet<>(failed);
            failed.add(place);
        }
    }

    /** From peers that seem too slow, unless somebody else is asking them. */
    private @Nullable SampleBuffer fromSlowPeers(int file, long bytes) {
        if (!trial.begin()) {
            return null;
        }
        boolean quick = false;
        try {
            long start = System.nanoTime();
            SampleBuffer buffer = peers.fetch(file);
            double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
            quick = buffer != null && seconds < PEER_PATIENCE_SECONDS + rates.fetchSeconds(Place.SOURCE, bytes);
            return buffer;
        } finally {
            if (trial.end(quick)) {
                rates.forget(Place.PEER);
            }
        }
    }

    private Traffic traffic(Place place) {
        return switch (place) {
            case Place.Source() -> counters.fromSource;
            case Place.Peer() -> counters.fromPeer;
            case Place.Local(int tier) -> tier == 0 ? counters.fromMemory : counters.fromSsd;
        };
    }

    private SampleBuffer fromSource(SourceFile from, SampleFlight flight) throws SourceException {
        SampleBuffer buffer = SampleBuffer.allocate(from.size());
        try (SourceGate.Pass pass = flight.enter(gate, buffer)) {
            source.read(from, buffer.bytes(), at -> {
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

    private static SampleBuffer join(CompletableFuture<SampleBuffer> fetch) throws SourceException {
        try {
            return fetch.join();
        } catch (CompletionException e) {
            throw unwrap(e.getCause());
        }
    }

    /** The failure of a fetch as its own kind. */
    static SourceException unwrap(@Nullable Throwable cause) {
        return switch (cause) {
            case SourceException e -> e;
            case Error e -> throw e;
            case UnwantedException e -> throw e;
            case null, default -> throw new AssertionError("a fetch fails with the source's errors only", cause);
        };
    }
}
