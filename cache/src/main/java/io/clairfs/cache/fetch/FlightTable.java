package io.clairfs.cache.fetch;

import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The fetches that are under way, one for each sample: a second request joins the first. A flight that has taken longer than any reader would wait
 * counts as lost, and another takes its place, for the waiters of both.
 *
 * <p>Thread-safe, with no lock of its own. None is held during a fetch, a wait for a flight, or the completion of a reader.
 */
final class FlightTable {
    private final long lostNs;
    private final ConcurrentHashMap<Integer, SampleFlight> underWay = new ConcurrentHashMap<>();

    /** Flights count as lost after so many nanoseconds. */
    FlightTable(long lostNs) {
        this.lostNs = lostNs;
    }

    /** How the bytes of a sample come. */
    @FunctionalInterface
    interface Fetch {
        SampleBuffer run() throws SourceException;
    }

    /** Whether there is a flight of this file, lost or not. */
    boolean has(int file) {
        return underWay.containsKey(file);
    }

    /** The flight of this file, if there is one that is not lost. */
    @Nullable
    SampleFlight of(int file) {
        SampleFlight flight = underWay.get(file);
        return flight == null || flight.isLost(lostNs) ? null : flight;
    }

    /** The flights that are not lost, by file, as of now. */
    Map<Integer, SampleFlight> underWay() {
        Map<Integer, SampleFlight> all = new HashMap<>(underWay);
        all.values().removeIf(flight -> flight.isLost(lostNs));
        return all;
    }

    /** Begins a flight, which the caller has to {@linkplain #end end}. Returns null when there is another. */
    @Nullable
    SampleFlight begin(int file, FetchRequest request) {
        SampleFlight other = underWay.get(file);
        if (other == null) {
            SampleFlight mine = new SampleFlight(null, request);
            return begin(file, mine) ? mine : null;
        }
        if (!other.isLost(lostNs)) {
            return null;
        }
        SampleFlight mine = new SampleFlight(other, request);
        return underWay.replace(file, other, mine) ? mine : null;
    }

    /** Begins this flight. Returns false when there is another, lost or not. */
    boolean begin(int file, SampleFlight mine) {
        return underWay.putIfAbsent(file, mine) == null;
    }

    /**
     * Waits for the flight of this file, which becomes as urgent as this request.
     *
     * @return its sample with a reference for the caller; null when there is no flight, or its sample is gone already
     */
    @Nullable
    SampleBuffer join(int file, FetchRequest request) throws SourceException {
        SampleFlight other = of(file);
        if (other == null) {
            return null;
        }
        other.urge(request.urgency(), request.order());
        SampleBuffer shared = join(other.promise());
        return shared.tryRetain() ? shared : null;
    }

    /** Completes {@code reader} as {@link SampleFlight#await} does. Returns false when there is no flight. */
    boolean await(int file, long upTo, CompletableFuture<SampleBuffer> reader) {
        SampleFlight flight = of(file);
        return flight != null && flight.await(upTo, reader);
    }

    /** The same as {@link SampleFlight#awaitNear} does. */
    boolean awaitNear(int file, long upTo, CompletableFuture<SampleBuffer> reader) {
        SampleFlight flight = of(file);
        return flight != null && flight.awaitNear(upTo, reader);
    }

    /** A flight of this file becomes as urgent as this. */
    void urge(int file, FetchUrgency by, long order) {
        SampleFlight flight = underWay.get(file);
        if (flight != null) {
            flight.urge(by, order);
        }
    }

    /**
     * Ends a flight that the caller began: with what {@code fetch} brings, or its failure. It has put the sample where others look before they begin a
     * flight, else another thread would fetch in between.
     */
    SampleBuffer end(int file, SampleFlight flight, Fetch fetch) throws SourceException {
        try {
            SampleBuffer buffer = fetch.run();
            arrived(file, flight, buffer);
            return buffer;
        } catch (Throwable t) {
            fail(file, flight, t);
            throw t;
        }
    }

    /** Ends a flight that the caller began with this sample. */
    void arrived(int file, SampleFlight flight, SampleBuffer buffer) {
        underWay.remove(file, flight);
        flight.arrived(buffer);
    }

    /** Ends a flight that the caller began without a sample. */
    void fail(int file, SampleFlight flight, Throwable reason) {
        underWay.remove(file, flight);
        flight.failed(reason);
    }

    /** Ends a flight that the caller began and gives up, unless readers wait for it. Returns whether it has ended. */
    boolean giveUp(int file, SampleFlight flight) {
        if (!flight.giveUpUnlessAwaited()) {
            return false;
        }
        fail(file, flight, new UnwantedException());
        return true;
    }

    private static SampleBuffer join(CompletableFuture<SampleBuffer> fetch) throws SourceException {
        try {
            return fetch.join();
        } catch (CompletionException e) {
            throw unwrap(e.getCause());
        }
    }

    /** Returns a failure of the source with its own type, and throws any other. */
    private static SourceException unwrap(@Nullable Throwable cause) {
        return switch (cause) {
            case SourceException e -> e;
            case Error e -> throw e;
            case UnwantedException e -> throw e;
            case null, default -> throw new AssertionError("a fetch fails with the source's errors only", cause);
        };
    }
}
