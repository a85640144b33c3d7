package io.clairfs.cache.fetch;

import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.Filled;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.placement.ResidentSamples;
import io.clairfs.cache.placement.TierRoom;
import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gets a sample from the cheapest place that has it ({@code CheapestPlace}), and outside memory at most once at a time.
 *
 * <p>A second request for a sample joins the flight that is under way ({@code FlightTable}). Calls block for as long as the source takes; the
 * caller bounds the wait ({@link SampleReader}). A reader takes its bytes as they arrive ({@code ReaderFetches}).
 *
 * <p>Life cycle: made once for a node, before its first read; it has nothing to close, and threads only while they are needed: for a trial, a fetch that was given up, pieces of large samples. Locks:
 * it has none of its own, and takes those of the flight and of {@link Admission} one after the other. No lock is held during a fetch, a
 * wait for a flight, or the completion of a reader.
 */
public final class FetchRouter {
    private static final Logger LOG = System.getLogger(FetchRouter.class.getName());

    private final Admission admission;
    private final ResidentSamples residents;
    private final SamplesInUse inUse;
    private final PeerFetch peers;
    private final ObservedRates rates;
    private final CheapestPlace cheapest;
    private final Counters counters;
    private final SourceGate gate;
    private final MadeAfterwards afterwards;
    private final FlightTable flights;
    private final ReaderFetches readers;
    private final Executor besides;

    /**
     * A router.
     *
     * @param rates what fetches take, corrected by its own
     * @param clockNs as {@link System#nanoTime}
     */
    public FetchRouter(
            FetchPlaces places, FetchLimits limits, ObservedRates rates, Counters counters, LongSupplier clockNs) {
        this(places, limits, rates, counters, clockNs, task -> {
            Thread _ = Thread.ofPlatform().daemon().name("trial").start(task);
        });
    }

    /** As the other constructor; {@code besides} runs what no reader may wait for. */
    FetchRouter(
            FetchPlaces places,
            FetchLimits limits,
            ObservedRates rates,
            Counters counters,
            LongSupplier clockNs,
            Executor besides) {
        this.besides = besides;
        flights = new FlightTable(limits.lostNs());
        admission = places.admission();
        residents = admission.residents();
        inUse = places.inUse();
        peers = places.peers();
        this.rates = rates;
        this.counters = counters;
        gate = new SourceGate(limits.mostFromSourceBytes(), clockNs);
        Making making =
                new Making(places.peers(), counters, Runtime.getRuntime().availableProcessors(), clockNs);
        cheapest = new CheapestPlace(places, rates, gate, making, counters, clockNs, besides);
        afterwards = new MadeAfterwards(
                this, new FlightTable(limits.lostNs()), cheapest, making, places.tree(), inUse, counters);
        HedgedReads hedged = new HedgedReads(places, cheapest, counters, clockNs, besides);
        readers = new ReaderFetches(this, flights, admission, cheapest, afterwards, hedged);
    }

    /** The sample if it is in this node's memory, with a reference for the caller. */
    @Nullable
    SampleBuffer fromMemory(int file) {
        if (afterwards.makes(file)) {
            return inUse.get(file);
        }
        SampleBuffer sample = residents.fromMemory(file);
        return sample == null ? inUse.get(file) : sample;
    }

    /** The same from tiers and write-back queues alone: samples in use do not count. */
    @Nullable
    SampleBuffer fromTiersMemory(int file) {
        return afterwards.makes(file) ? null : residents.fromMemory(file);
    }

    /** Whether the sample is resident in memory, and could be given at once. */
    public boolean isInMemory(int file) {
        return !afterwards.makes(file) && residents.isInMemory(file);
    }

    /** As {@link Admission#keepPatiently}: a fetched sample should not need a second fetch. */
    public void keepPatiently(int file, SampleBuffer sample) {
        if (!afterwards.makes(file)) {
            admission.keepPatiently(file, sample);
        }
    }

    /** Whether a place nearer than the source has the sample, as far as can be told. */
    public boolean isNear(int file) {
        return residents.isHere(file) || peers.mayHave(file);
    }

    /**
     * Fills {@code into} with the file's bytes from {@code offset} on, from the source; for staged samples too large to be fetched for a part. Among what is staged the
     * smaller {@code order} goes first.
     */
    public void readPart(int file, long offset, long order, MemorySegment into) throws SourceException {
        cheapest.readPart(file, offset, order, into);
    }

    /** Whether there are peers, or may be some later. */
    public boolean hasPeers() {
        return !peers.equals(PeerFetch.NONE);
    }

    /** Whether a fetch of this file is under way. */
    public boolean isUnderWay(int file) {
        return flights.has(file);
    }

    /** What is on its way of the samples that the plan wants on this node and that are missing. */
    public Filled.Arriving arriving() {
        LocalPlan plan = admission.plan();
        long samples = 0;
        long bytes = 0;
        long whole = 0;
        for (Map.Entry<Integer, SampleFlight> each : flights.underWay().entrySet()) {
            int file = each.getKey();
            if (residents.isHere(file) || !Filled.isWanted(plan, admission, file)) {
                continue;
            }
            SampleFlight flight = each.getValue();
            samples++;
            bytes += flight.givenBySource();
            whole += flight.isAtSource() ? 0 : 1;
        }
        return new Filled.Arriving(samples, bytes, whole);
    }

    /** The same fetches for readers, who take their bytes as they arrive. */
    ReaderFetches readers() {
        return readers;
    }

    /** How many samples wait for their turn at the source. */
    int waitingForSource() {
        return gate.waiting();
    }

    /** The source's rate by how many read it at once, as measured lately, and the fillers that do now; null before the first fetch. */
    public @Nullable Contention contentionAtSource() {
        return gate.contention();
    }

    /** The place from which this file would be fetched now. */
    public Place cheapest(int file, long bytes) {
        return cheapest.of(file, bytes);
    }

    /** The time that a fetch takes one thread. */
    public ObservedRates rates() {
        return rates;
    }

    /**
     * The sample with a reference for the caller; it is kept where the plan wants it.
     *
     * @param byReader whether a reader waits for it, rather than another node
     */
    public SampleBuffer fetch(int file, boolean byReader) throws SourceException {
        return fetchUntilWanted(file, FetchRequest.waitedFor(byReader ? FetchUrgency.READER : FetchUrgency.PEER));
    }

    /** The sample for a loader that stages it; among these fetches the smaller {@code order} goes first. */
    public SampleBuffer fetch(int file, long order, Stager stager) throws SourceException {
        return fetchUntilWanted(file, FetchRequest.staging(order, stager));
    }

    /** The sample as tiers hold it, for a peer, with a reference for the caller; it is kept where the plan wants it. */
    public SampleBuffer fetchKept(int file) throws SourceException {
        return fetchKept(file, FetchRequest.waitedFor(FetchUrgency.PEER));
    }

    /** Whether tiers hold the sample as it is shown. */
    public boolean keepsShown(int file) {
        return !afterwards.makes(file);
    }

    private SampleBuffer fetchUntilWanted(int file, FetchRequest request) throws SourceException {
        return afterwards.makes(file) ? afterwards.fetch(file, request) : fetchKept(file, request);
    }

    /** The sample as tiers hold it. */
    SampleBuffer fetchKept(int file, FetchRequest request) throws SourceException {
        return fetchKept(file, request, mine -> cheapest.fetch(file, mine, request));
    }

    /** The same after a peer that was asked ahead of time has not given it: a fetch that begins does not ask that one again. */
    SampleBuffer fetchElsewhere(int file, FetchRequest request, CheapestPlace.AheadOfTime peer) throws SourceException {
        return fetchKept(file, request, mine -> peer.fromElsewhereLater(mine, request));
    }

    private SampleBuffer fetchKept(int file, FetchRequest request, FlightFetch fetch) throws SourceException {
        while (true) {
            try {
                return fetch(file, request, fetch);
            } catch (UnwantedException e) {
                // The joined flight ended before it asked the source: fetch anew.
            }
        }
    }

    /** The outcome of filling a tier with a sample. */
    public enum Filling {
        BROUGHT,
        /** The tier has it, another thread brings it, or the plan no longer wants it. */
        NOT_NEEDED,
        NO_ROOM
    }

    /** Brings a sample to a tier that wants it, with its room reserved before the fetch. */
    public Filling fill(int file, int tier) throws SourceException {
        if (afterwards.isUndecided()) {
            return Filling.NOT_NEEDED;
        }
        TierRoom.Reservation room = admission.reserve(file, tier);
        if (room == null) {
            return admission.isMissing(file, tier) && !admission.takesMore(tier) ? Filling.NO_ROOM : Filling.NOT_NEEDED;
        }
        FetchRequest request = FetchRequest.filling(() -> admission.wants(file, tier));
        try (room) {
            while (true) {
                try {
                    fetch(file, request, mine -> cheapest.fetch(file, mine, request))
                            .release();
                    return Filling.BROUGHT;
                } catch (UnwantedException e) {
                    if (!admission.wants(file, tier)) {
                        return Filling.NOT_NEEDED;
                    } // else the joined flight was given up: fetch anew
                }
            }
        }
    }

    /**
     * The sample, for a peer that has asked this node to make it, with a reference for the caller: from here, else made of the source's file.
     * It is kept where the plan wants it. No peer is asked, and no fetch is joined that waits for one: that might wait for this node.
     */
    public SampleBuffer makeForPeer(int file) throws SourceException {
        if (afterwards.makes(file)) {
            return afterwards.makeForPeer(file);
        }
        FetchRequest request = FetchRequest.waitedFor(FetchUrgency.PEER);
        while (true) {
            SampleBuffer held = held(file);
            if (held != null) {
                return held;
            }
            SampleFlight mine = flights.begin(file, request);
            if (mine != null) {
                return end(file, mine, request, () -> cheapest.makeForPeer(file, mine));
            }
            SampleFlight other = flights.of(file);
            if (other != null && other.isAtSource()) {
                SampleBuffer shared = joinUnlessUnwanted(file, request);
                if (shared != null) {
                    return shared;
                }
            } else if (other != null) {
                SampleBuffer made = cheapest.makeForPeer(file, new SampleFlight(null, request));
                keepOrRelease(file, made, false);
                return made;
            }
        }
    }

    private @Nullable SampleBuffer joinUnlessUnwanted(int file, FetchRequest request) throws SourceException {
        try {
            return flights.join(file, request);
        } catch (UnwantedException e) {
            return null; // it ended before it asked the source
        }
    }

    /** How a flight that was begun gets its sample. */
    @FunctionalInterface
    private interface FlightFetch {
        SampleBuffer run(SampleFlight mine) throws SourceException;
    }

    private SampleBuffer fetch(int file, FetchRequest request, FlightFetch fetch) throws SourceException {
        boolean byReader = request.urgency() == FetchUrgency.READER;
        while (true) {
            SampleBuffer held = held(file);
            if (held != null) {
                keepOrRelease(file, held, byReader); // a new plan may want it in another tier
                return held;
            }
            SampleFlight mine = flights.begin(file, request);
            if (mine != null) {
                return end(file, mine, request, () -> fetch.run(mine));
            }
            SampleBuffer shared = flights.join(file, request);
            if (shared != null) {
                return shared;
            }
        }
    }

    /** As {@link #fromMemory}; a resident sample is counted as fetched from memory. */
    @Nullable
    SampleBuffer held(int file) {
        SampleBuffer sample = residents.fromMemory(file);
        if (sample != null) {
            counters.fromMemory.add(sample.size());
            return sample;
        }
        return afterwards.makes(file) ? null : inUse.get(file); // what is in use is what is shown
    }

    /**
     * A peer that can be asked for a sample to stage while its loader goes on with others; null when the sample has to be fetched as usual.
     */
    public @Nullable FetchAhead ahead(int file, long order, Stager stager) {
        if (afterwards.makes(file) || !peers.mayHave(file) || isUnderWay(file) || residents.isInMemory(file)) {
            return null;
        }
        FetchRequest request = FetchRequest.staging(order, stager);
        CheapestPlace.AheadOfTime peer = cheapest.ahead(file, request);
        return peer == null ? null : new FetchAhead(this, file, request, peer);
    }

    /** Lists a flight as under way. Returns false if there is another. */
    boolean begin(int file, SampleFlight flight) {
        return flights.begin(file, flight);
    }

    /** Ends a flight that the caller began, with this sample, which the caller keeps. */
    void arrived(int file, SampleFlight flight, SampleBuffer sample) {
        if (flight.isForReader()) {
            inUse.readInPieces(file, sample);
        }
        flights.arrived(file, flight, sample);
    }

    /**
     * Ends a flight that the caller began, without a sample: others fetch it anew if they want it. Does nothing and returns false if readers wait
     * for it.
     */
    boolean giveUp(int file, SampleFlight flight) {
        return flights.giveUp(file, flight);
    }

    /** Runs a fetch, which does not throw, on a thread of its own if there can be one. */
    void besides(Runnable fetch) {
        try {
            besides.execute(fetch);
        } catch (RuntimeException | OutOfMemoryError e) {
            LOG.log(Level.DEBUG, "no thread for a fetch that readers wait for", e);
            fetch.run();
        }
    }

    /** Ends a flight that the caller began: with what {@code fetch} brings, unless the sample is here meanwhile. */
    SampleBuffer end(int file, SampleFlight flight, FetchRequest request, FlightTable.Fetch fetch)
            throws SourceException {
        return flights.end(file, flight, () -> {
            SampleBuffer buffer = held(file); // another fetch may have ended between the look and the claim
            if (buffer == null) {
                buffer = fetch.run();
            }
            keepOrRelease(file, buffer, request.urgency() == FetchUrgency.READER);
            if (!afterwards.makes(file)) {
                nowInUse(file, flight, request, buffer);
            }
            return buffer;
        });
    }

    /** Notes that a loader or a reader uses a sample as it is shown. */
    void nowInUse(int file, SampleFlight flight, FetchRequest request, SampleBuffer shown) {
        if (flight.isForReader()) {
            inUse.readInPieces(file, shown);
        }
        if (request.urgency() == FetchUrgency.STAGING) {
            inUse.take(file, shown);
        }
    }

    /** A fetch of the sample as tiers hold it, if one is under way, becomes as urgent as this. */
    void urge(int file, FetchUrgency by, long order) {
        flights.urge(file, by, order);
    }

    /** Keeps a sample where the plan wants it; releases it if that fails. */
    void keepOrRelease(int file, SampleBuffer buffer, boolean byReader) {
        try {
            admission.fetched(file, buffer, byReader);
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
    }
}
