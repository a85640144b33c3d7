package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.placement.ResidentSamples;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.posix.NativeMemory;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.worker.OnDemandThread;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The cheapest place that has a sample: memory, a slower tier, a peer or the source.
 *
 * <p>The performance model, corrected by recent fetches, says how long each place takes (NoPFS section 4: the fastest applicable of the three
 * cases of fetch). All nodes share the source, so a nearer place is preferred to it while that costs nobody any time: if it is no slower, or if
 * the trainer does not wait for the sample meanwhile ({@link FetchRequest#spareSeconds}). So a group is not slower than its nodes alone, and
 * reads of the source what its nodes cannot give each other in time. A peer that is later than it usually is at its worst is given up. A
 * place that fails to give the sample is passed over, and when the source fails, the others are tried as far as their time allows.
 * Thread-safe without a lock.
 */
final class CheapestPlace {
    private static final Logger LOG = System.getLogger(CheapestPlace.class.getName());
    private static final Place MEMORY = new Place.Local(0);

    /** A place as quick as this is preferred to the source, however quick that is: with 16 loaders it keeps up with what can be staged. */
    private static final double QUICK_SECONDS = 0.001;

    /** A source that is as quick as a local disk at its best: reading it twice costs little, and waiting for a slow peer in its place much. */
    private static final double LOCAL_SOURCE_SECONDS = 0.002;

    /**
     * How late an answer may be without any reason but a busy machine, or a program or a connection that has just begun: so many seconds, but no
     * more than so many reads of the source would take, one of which is what a fetch costs that is given up in vain.
     */
    private static final double LATE_SECONDS = 0.3;

    private static final int LATE_SOURCE_READS = 100;

    /** The same for a source as quick as that, in reads of it at its best. */
    private static final int LATE_LOCAL_SOURCE_READS = 20;

    /** How many times as long as usual the source may take a home that fetches a sample for us. */
    private static final int HOME_FETCH_TIMES = 4;

    /** A peer on trial is given up after so many times the time that would pass it. */
    private static final int TRIAL_TIMES = 2;

    /** A sample that is fetched for a trial alone, bytes: it takes memory and a part of the path for nobody. */
    private static final long LARGEST_BESIDES = 16 << 20;

    private final DatasetTree tree;
    private final Source source;
    private final ResidentSamples residents;
    private final SamplesInUse inUse;
    private final ObservedRates rates;
    private final SourceGate gate;
    private final Counters counters;
    private final NearPlaces near;
    private final PlacesOnTrial trials;
    private final BestSourceTime sourceAtBest = new BestSourceTime();
    private final Making making;
    private final Executor besides;
    private final Executor touching = new OnDemandThread("sample-memory");
    private final AtomicBoolean besidesUnderWay = new AtomicBoolean();

    /** {@code besides} runs what no reader may wait for. */
    CheapestPlace(
            FetchPlaces places,
            ObservedRates rates,
            SourceGate gate,
            Making making,
            Counters counters,
            LongSupplier clockNs,
            Executor besides) {
        this.making = making;
        this.besides = besides;
        tree = places.tree();
        source = places.source();
        residents = places.admission().residents();
        inUse = places.inUse();
        this.rates = rates;
        this.gate = gate;
        this.counters = counters;
        near = new NearPlaces(residents, places.peers(), rates, counters, clockNs);
        trials = new PlacesOnTrial(clockNs);
    }

    /** The place from which this file would be fetched now for somebody who waits. */
    Place of(int file, long bytes) {
        if (residents.isInMemory(file)) {
            return MEMORY;
        }
        NearPlaces.Near nearest = near.attempt(file, bytes).nearest();
        return nearest != null && nearest.seconds() <= sourceSeconds(bytes) ? nearest.place() : Place.SOURCE;
    }

    /** What a fetch from the source takes, seconds; no less than a place takes that is as good as the source. */
    double sourceSeconds(long bytes) {
        return Math.max(QUICK_SECONDS, rates.fetchSeconds(Place.SOURCE, bytes));
    }

    /** The same at the source's best of late. */
    double sourceSecondsAtBest(long bytes) {
        return Math.min(sourceSeconds(bytes), Math.max(QUICK_SECONDS, sourceAtBest.seconds(bytes)));
    }

    /** What a fetch from the nearest place takes, of those that should have the sample, seconds. */
    double seconds(int file, long bytes) {
        NearPlaces.Near nearest = near.attempt(file, bytes).nearest();
        return nearest == null ? sourceSeconds(bytes) : nearest.seconds();
    }

    private double lateSeconds(long bytes) {
        double best = sourceSecondsAtBest(bytes);
        return best <= LOCAL_SOURCE_SECONDS
                ? LATE_LOCAL_SOURCE_READS * best
                : Math.min(LATE_SECONDS, LATE_SOURCE_READS * sourceSeconds(bytes));
    }

    /** The sample from its cheapest place, with a reference for the caller. Blocks for as long as the place takes. */
    SampleBuffer fetch(int file, SampleFlight flight, FetchRequest request) throws SourceException {
        return fetch(near.attempt(file, tree.keptSize(file)), tree.entry(file), flight, request);
    }

    /** A peer that is quick enough and holds a sample, to be asked for it ahead of time. Used by one thread at a time. */
    final class AheadOfTime {
        private final Entry sample;
        private final NearPlaces.Attempt attempt;
        private final NearPlaces.Near near;
        private final double mostSeconds;

        private AheadOfTime(Entry sample, NearPlaces.Attempt attempt, NearPlaces.Near near, double mostSeconds) {
            this.sample = sample;
            this.attempt = attempt;
            this.near = near;
            this.mostSeconds = mostSeconds;
        }

        /** Room for it on the path to the peer, as {@link NearPlaces.Attempt#room}. */
        PeerCosts.@Nullable Asked room() {
            return attempt.room(near);
        }

        /** Asks the peer; completes as {@link NearPlaces.Attempt#ask}. */
        CompletableFuture<NearPlaces.Given> ask(PeerCosts.Asked room) {
            return attempt.ask(near, room, patienceSeconds(near, tree.keptSize(sample.number()), mostSeconds));
        }

        /** The sample from its next cheapest place, for the peer did not give it. Blocks for as long as that takes. */
        SampleBuffer fromElsewhere(SampleFlight flight, FetchRequest request) throws SourceException {
            attempt.failed(near);
            return fetch(attempt, sample, flight, request);
        }

        /** The same later on, by another thread. */
        SampleBuffer fromElsewhereLater(SampleFlight flight, FetchRequest request) throws SourceException {
            NearPlaces.Attempt later = CheapestPlace.this.near.attempt(sample.number(), tree.keptSize(sample.number()));
            later.failed(near);
            return fetch(later, sample, flight, request);
        }
    }

    /**
     * The cheapest place if it is a peer that can be asked for the sample ahead of time, else null. A new peer is not: many requests at once would be
     * late at a program that has just begun.
     */
    @Nullable
    AheadOfTime ahead(int file, FetchRequest request) {
        Entry sample = tree.entry(file);
        long bytes = tree.keptSize(file);
        NearPlaces.Attempt attempt = near.attempt(file, bytes);
        NearPlaces.Near nearest = attempt.nearest();
        if (nearest == null
                || !(nearest.place() instanceof Place.Peer)
                || nearest.isHome()
                || near.isNew(nearest.place())) {
            return null;
        }
        double most = mostSeconds(nearest, bytes, request);
        return nearest.seconds() <= most ? new AheadOfTime(sample, attempt, nearest, most) : null;
    }

    private SampleBuffer fetch(NearPlaces.Attempt attempt, Entry sample, SampleFlight flight, FetchRequest request)
            throws SourceException {
        if (flight.replacesLost()) {
            attempt.passSlowerTiersOver();
        }
        SampleBuffer near = fromQuick(attempt, sample.number(), tree.keptSize(sample.number()), request);
        if (near == null && flight.isHedged()) { // the source has given it meanwhile, to a reader
            near = inUse.get(sample.number());
        }
        if (near != null) {
            return near;
        }
        if (request.isNear() && !flight.replacesLost() && flight.giveUpUnlessAwaited()) {
            throw new UnwantedException();
        }
        if (attempt.passesPeersOver()) {
            counters.peersPassedOver.increment();
        }
        if (attempt.passesTiersOver()) {
            counters.ssdPassedOver.increment();
        }
        try {
            return isMadeFirst(sample) ? made(sample, flight, request) : fromSource(sample.file(), flight);
        } catch (SourceException e) {
            NearPlaces.Attempt left =
                    request.isNear() ? this.near.attempt(sample.number(), tree.keptSize(sample.number())) : attempt;
            if (flight.replacesLost()) {
                left.passSlowerTiersOver();
            }
            SampleBuffer any = fromAny(left);
            if (any == null) {
                throw e;
            }
            return any;
        }
    }

    /** Whether what is fetched of a file is what the view makes of it. */
    private boolean isMadeFirst(Entry sample) {
        return sample.isMade() && !tree.view().keepsSource();
    }

    /** The sample from a place that is quick enough, or tried; null when it is the source's turn. */
    private @Nullable SampleBuffer fromQuick(NearPlaces.Attempt attempt, int file, long bytes, FetchRequest request) {
        SampleBuffer sample = null;
        for (NearPlaces.Near each = attempt.nearest(); each != null; each = attempt.nearest()) {
            double most = mostSeconds(each, bytes, request);
            if (request.isNear() && (each.isHome() || each.seconds() > request.nearSeconds())) {
                attempt.failed(each); // a home would read the whole sample from the source first
            } else if (each.seconds() <= most) {
                sample = from(attempt, each, bytes, most, request);
            } else if (request.urgency() == FetchUrgency.READER) {
                tryBesides(each, file, bytes, most);
                return null;
            } else if (trials.begin(each.place())) {
                sample = tried(attempt, each, bytes, most);
            } else {
                return null;
            }
            if (sample != null) {
                return sample;
            }
        }
        return null;
    }

    /** How long a place may take that the source is not to be asked instead. A reader waits for no more than the source takes. */
    private double mostSeconds(NearPlaces.Near each, long bytes, FetchRequest request) {
        double most = sourceSeconds(bytes);
        if (each.seconds() <= most) {
            return most;
        }
        if (each.place() instanceof Place.Local) {
            if (request.urgency() == FetchUrgency.FILLING) {
                return each.seconds(); // nobody waits for it, and the source is everybody's
            }
            if (near.isNew(each.place()) && near.modelSeconds(each.place(), bytes) <= most) {
                return Math.max(
                        most, lateSeconds(bytes)); // the first reads of a program are slow, those of the source too
            }
        }
        if (request.urgency() == FetchUrgency.READER) {
            return most;
        }
        double patience = near.isNew(each.place()) ? lateSeconds(bytes) : 0;
        return Math.max(most, Math.max(patience, request.spareSeconds().getAsDouble()));
    }

    private @Nullable SampleBuffer from(
            NearPlaces.Attempt attempt, NearPlaces.Near each, long bytes, double mostSeconds, FetchRequest request) {
        double brings = bringsSeconds(each, bytes);
        double patience = patienceSeconds(each, bytes, mostSeconds) + brings;
        return attempt.from(each, request.isNear() ? Math.min(patience, request.nearSeconds()) : patience, brings)
                .sample();
    }

    /** How long a peer that holds a sample may take to give it before it counts as late. */
    private double patienceSeconds(NearPlaces.Near each, long bytes, double mostSeconds) {
        double usual = Math.max(mostSeconds, near.usualWorstSeconds(each.place(), bytes));
        return usual + sourceSeconds(bytes) + lateSeconds(bytes);
    }

    /** How long a home may take to fetch the sample first. */
    private double bringsSeconds(NearPlaces.Near each, long bytes) {
        return each.isHome() ? HOME_FETCH_TIMES * sourceSeconds(bytes) + lateSeconds(bytes) : 0;
    }

    /**
     * Tries a place while the source gives the sample to a reader, who is never made to wait for a trial. Nobody gets what the place gives, so
     * it is one small sample at a time, and from no home that would read it from the source once more.
     */
    private void tryBesides(NearPlaces.Near each, int file, long bytes, double mostSeconds) {
        if (each.isHome() || bytes > LARGEST_BESIDES || !besidesUnderWay.compareAndSet(false, true)) {
            return;
        }
        if (!trials.begin(each.place())) {
            besidesUnderWay.set(false);
            return;
        }
        try {
            besides.execute(() -> {
                try {
                    SampleBuffer sample = tried(near.attempt(file, bytes), each, bytes, mostSeconds);
                    if (sample != null) {
                        sample.release();
                    }
                } finally {
                    besidesUnderWay.set(false);
                }
            });
        } catch (RuntimeException | OutOfMemoryError e) {
            LOG.log(Level.DEBUG, "no thread for a trial now", e);
            boolean _ = trials.end(each.place(), false);
            besidesUnderWay.set(false);
        }
    }

    /** Tries a place that seems too slow. */
    private @Nullable SampleBuffer tried(
            NearPlaces.Attempt attempt, NearPlaces.Near each, long bytes, double mostSeconds) {
        boolean quick = false;
        try {
            double brings = bringsSeconds(each, bytes);
            NearPlaces.Given given = attempt.from(each, TRIAL_TIMES * mostSeconds + brings, brings);
            quick = given.sample() != null && given.seconds() <= mostSeconds;
            return given.sample();
        } finally {
            if (trials.end(each.place(), quick)) {
                near.forget(each.place());
            }
        }
    }

    /** The sample from any other place that has time left, however slow; null when none gives it. */
    private @Nullable SampleBuffer fromAny(NearPlaces.Attempt attempt) {
        SampleBuffer sample = null;
        for (NearPlaces.Near each = attempt.nearest(); sample == null && each != null; each = attempt.nearest()) {
            sample = attempt.from(each, Double.POSITIVE_INFINITY, 0).sample();
        }
        return sample;
    }

    /** The sample from the source, with a reference for the caller. */
    SampleBuffer fromSource(SourceFile from, SampleFlight flight) throws SourceException {
        long start = System.nanoTime();
        SampleBuffer buffer = null;
        try (SourceGate.Pass pass = flight.enter(gate, from.size())) {
            buffer = allocateInTurn(from.size(), pass);
            flight.arrivesIn(buffer);
            read(from, buffer, flight, pass, start);
            return buffer;
        } catch (Throwable t) {
            flight.leave();
            if (buffer != null) {
                buffer.release();
            }
            throw t;
        }
    }

    /** A buffer to read into. A large one takes memory at once, if it is one that was kept; so it is not taken by those who wait for their turn. */
    private static SampleBuffer allocateInTurn(long bytes, SourceGate.Pass pass) {
        if (NativeMemory.isLarge(bytes)) {
            pass.begin();
        }
        return SampleBuffer.allocate(bytes);
    }

    private void read(SourceFile from, SampleBuffer into, SampleFlight flight, SourceGate.Pass pass, long startNs)
            throws SourceException {
        source.read(from, into.bytes(), at -> {
            if (at == from.size()) {
                fetchedFromSource(at, at, System.nanoTime() - startNs); // before the readers are told
                flight.bytesArrived();
            }
            long piece = pass.next(at);
            if (at == 0 && flight.isUnwanted()) {
                throw new UnwantedException();
            }
            touchNext(into, at + piece);
            return piece;
        });
    }

    /** Has the next piece of a large sample touched while this one is read. */
    private void touchNext(SampleBuffer buffer, long at) {
        long length = Math.min(InFlightLimit.PIECE_BYTES, buffer.size() - at);
        if (length > 0 && NativeMemory.isLarge(buffer.size()) && buffer.tryRetain()) {
            touching.execute(() -> {
                try {
                    NativeMemory.touch(buffer.bytes().asSlice(at, length));
                } finally {
                    buffer.release();
                }
            });
        }
    }

    /** As {@link FetchRouter#readPart}. */
    void readPart(int file, long offset, long order, MemorySegment into) throws SourceException {
        try (SourceGate.Pass pass = gate.enter(into.byteSize(), FetchUrgency.STAGING, order, _ -> {})) {
            long piece;
            for (long at = 0; (piece = pass.next(at)) > 0; at += piece) {
                source.read(tree.entry(file).file(), offset + at, into.asSlice(at, piece));
            }
        }
        counters.fromSource.addPart(into.byteSize(), false);
    }

    /** What the view makes of a file, by a peer that is not later, or here. */
    private SampleBuffer made(Entry sample, SampleFlight flight, FetchRequest request) throws SourceException {
        SampleBuffer elsewhere = making.elsewhere(sample.number(), sample.file().size(), sample.size(), request);
        return elsewhere == null ? makeHere(sample, flight) : elsewhere;
    }

    /** What the view makes of a file, for a peer that has asked for that. No peer is asked meanwhile, for it might ask this node. */
    SampleBuffer makeForPeer(int file, SampleFlight flight) throws SourceException {
        SampleBuffer stored = residents.readStored(file);
        if (stored != null) {
            return stored;
        }
        Entry sample = tree.entry(file);
        if (!sample.isMade()) {
            return fromSource(sample.file(), flight);
        }
        SampleBuffer made = makeHere(sample, flight);
        counters.madeForPeers.increment();
        return made;
    }

    /** What the view makes of a file, which is read whole first. */
    SampleBuffer makeHere(Entry sample, SampleFlight flight) throws SourceException {
        SourceFile from = sample.file();
        long start = System.nanoTime();
        SampleBuffer read = null;
        SampleBuffer made = null;
        try (MakingTimes.Work work = making.here(from.size());
                SourceGate.Pass pass = flight.enterForView(gate, from.size(), sample.size())) {
            read = allocateInTurn(from.size(), pass);
            source.read(from, read.bytes(), at -> {
                if (at == from.size()) {
                    flight.bytesArrived(); // the source is free for others while the sample is made
                }
                long piece = pass.next(at);
                if (at == 0 && flight.isUnwanted()) {
                    throw new UnwantedException();
                }
                return piece;
            });
            made = SampleBuffer.allocate(sample.size());
            tree.view().make(from, read.bytes(), made.bytes());
            double _ = work.took();
            fetchedFromSource(from.size(), sample.size(), System.nanoTime() - start);
            return made;
        } catch (Throwable t) {
            flight.leave();
            if (made != null) {
                made.release();
            }
            throw t;
        } finally {
            if (read != null) {
                read.release();
            }
        }
    }

    /** {@code tookNs} has what a view took as well, so the model's source is one of samples of this size. */
    private void fetchedFromSource(long bytes, long sampleBytes, long tookNs) {
        rates.record(Place.SOURCE, sampleBytes, tookNs);
        sourceAtBest.took(sampleBytes, tookNs / 1e9);
        counters.fromSourceTook.record(tookNs);
        counters.fromSource.add(bytes);
    }
}
