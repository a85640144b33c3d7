package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
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
import java.util.concurrent.Semaphore;
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

    /** What may be on its way from the source at once where nothing else is said; a larger sample comes alone. While the source hangs, so much memory does. */
    private static final long MOST_FROM_SOURCE = 512L << 20;

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
    private final int mostFromSourceKib;
    private final Semaphore roomFromSource;
    private final long lostNs;
    private final ConcurrentHashMap<Integer, Flight> underWay = new ConcurrentHashMap<>();

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
        this(tree, source, keeper, inUse, peers, rates, counters, lostNs, MOST_FROM_SOURCE);
    }

    /**
     * A router.
     *
     * @param lostNs how old a fetch must be to be taken for lost, nanoseconds
     * @param mostFromSource what may be on its way from the source at once, bytes
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
            long mostFromSource) {
        this.lostNs = lostNs;
        mostFromSourceKib = Math.clamp(mostFromSource >> 10, 1, Integer.MAX_VALUE);
        roomFromSource = new Semaphore(mostFromSourceKib, true);
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
        if (sample == null) {
            sample = inUse.get(file);
        }
        if (sample != null) {
            counters.fromMemory.add(sample.size());
        }
        return sample;
    }

    /** Whether somebody is fetching this file now. */
    boolean isUnderWay(int file) {
        return underWay.containsKey(file);
    }

    /** From where this file would be fetched now. */
    Place cheapest(int file, long bytes) {
        return keeper.isInMemory(file) ? places.getFirst() : cheapest(file, bytes, Set.of());
    }

    /** What fetches take one loader. */
    ObservedRates rates() {
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
     * @param byReader whether a reader waits for it, rather than a prefetcher
     */
    public SampleBuffer fetch(int file, boolean byReader) throws SourceException {
        while (true) {
            SampleBuffer held = fromMemory(file);
            if (held != null) {
                keeper.fetched(file, held, byReader); // a new plan may want it in another tier
                return held;
            }
            Flight other = underWay.get(file);
            if (other == null || other.isLost(lostNs)) {
                Flight mine = new Flight(new CompletableFuture<>(), System.nanoTime(), other);
                boolean first =
                        other == null ? underWay.putIfAbsent(file, mine) == null : underWay.replace(file, other, mine);
                if (first) {
                    return fetchAlone(file, mine, byReader);
                }
                continue;
            }
            SampleBuffer shared = join(other.promise);
            if (shared.tryRetain()) {
                return shared;
            }
        }
    }

    private SampleBuffer fetchAlone(int file, Flight flight, boolean byReader) throws SourceException {
        try {
            SampleBuffer buffer = fromMemory(file); // another fetch may have ended between the look and the claim
            if (buffer == null) {
                buffer = fromCheapest(file);
            }
            keeper.fetched(file, buffer, byReader);
            underWay.remove(file, flight);
            flight.arrived(buffer);
            return buffer;
        } catch (Throwable t) {
            underWay.remove(file, flight);
            flight.failed(t);
            throw t;
        }
    }

    /**
     * A fetch under way.
     *
     * @param lost the one that it takes the place of, whose waiters it serves as well
     */
    private record Flight(
            CompletableFuture<SampleBuffer> promise,
            long startNs,
            @Nullable Flight lost) {
        boolean isLost(long afterNs) {
            return System.nanoTime() - startNs > afterNs;
        }

        void arrived(SampleBuffer buffer) {
            for (Flight flight = this; flight != null; flight = flight.lost) {
                flight.promise.complete(buffer);
            }
        }

        void failed(Throwable reason) {
            for (Flight flight = this; flight != null; flight = flight.lost) {
                flight.promise.completeExceptionally(reason);
            }
        }
    }

    private SampleBuffer fromCheapest(int file) throws SourceException {
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
                    yield fromSource(from);
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

    private SampleBuffer fromSource(SourceFile from) throws SourceException {
        int room = Math.clamp(from.size() >> 10, 1, mostFromSourceKib);
        roomFromSource.acquireUninterruptibly(room);
        try {
            SampleBuffer buffer = SampleBuffer.allocate(from.size());
            try {
                source.read(from, 0, buffer.bytes());
                return buffer;
            } catch (Throwable t) {
                buffer.release();
                throw t;
            }
        } finally {
            roomFromSource.release(room);
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
            case null, default -> throw new AssertionError("a fetch fails with the source's errors only", cause);
        };
    }
}
