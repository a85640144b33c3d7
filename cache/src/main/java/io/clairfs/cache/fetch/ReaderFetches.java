package io.clairfs.cache.fetch;

import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The fetches of a {@link FetchRouter} for readers: each takes its bytes as soon as they arrive, from a flight that is under way or from one
 * that it begins, and need not wait for the whole sample. The source is asked as well where a peer is late ({@link HedgedReads}).
 *
 * <p>Life cycle: of its router, and as there no lock is held during a fetch or the completion of a reader.
 */
final class ReaderFetches {
    /** Two pieces of the source: a read of its own would hardly be sooner. */
    private static final long LITTLE_BYTES = 2 * InFlightLimit.PIECE_BYTES;

    private final FetchRouter router;
    private final FlightTable flights;
    private final Admission admission;
    private final CheapestPlace cheapest;
    private final MadeAfterwards afterwards;
    private final HedgedReads hedged;

    /** {@code flights} are those of the router, as are the other parts. */
    ReaderFetches(
            FetchRouter router,
            FlightTable flights,
            Admission admission,
            CheapestPlace cheapest,
            MadeAfterwards afterwards,
            HedgedReads hedged) {
        this.router = router;
        this.flights = flights;
        this.admission = admission;
        this.cheapest = cheapest;
        this.afterwards = afterwards;
        this.hedged = hedged;
    }

    /**
     * Joins the flight of a file: completes {@code reader} with the sample, and a reference for the reader, when its bytes before
     * {@code upTo} are there. The reader must not touch the rest.
     *
     * @return false when no flight is under way, or it is lost
     */
    boolean join(int file, long upTo, CompletableFuture<SampleBuffer> reader) {
        if (afterwards.makes(file)) {
            return afterwards.join(file, upTo, reader);
        }
        return flights.await(file, upTo, reader);
    }

    /** The same for a reader who does not wait for the source: {@code reader} fails with {@link UnwantedException} once the flight goes there. */
    boolean joinNear(int file, long upTo, CompletableFuture<SampleBuffer> reader) {
        return flights.awaitNear(file, upTo, reader);
    }

    /** Whether the flight of this file, if there is one, is at the source. */
    boolean isAtSource(int file) {
        SampleFlight flight = flights.of(file);
        return flight != null && flight.isAtSource();
    }

    /** Whether there is a flight of this file that is not lost. */
    boolean isUnderWay(int file) {
        return flights.of(file) != null;
    }

    /** As {@link Admission#wouldKeep}. */
    boolean isKept(int file) {
        return admission.wouldKeep(file);
    }

    /** As {@link Admission#mayBeWhole}. */
    boolean mayBeWhole(int file) {
        return admission.mayBeWhole(file);
    }

    /**
     * About how long the source takes until the flight of a file has its bytes before {@code upTo}, seconds; 0 without a flight, and where a tier
     * or a peer gives the whole sample.
     */
    double secondsUntil(int file, long upTo) {
        SampleFlight flight = flights.of(file);
        long missing = flight == null ? 0 : flight.missingAtSource(upTo);
        return missing <= LITTLE_BYTES ? 0 : sourceSeconds(missing);
    }

    /** About how long a tier or a peer takes for the {@code size} bytes of a sample in a flight of this file, seconds; 0 without such a flight. */
    double wholeSeconds(int file, long size) {
        SampleFlight flight = flights.of(file);
        return flight == null || flight.isAtSource() ? 0 : cheapest.seconds(file, size);
    }

    /** What a fetch of so many bytes takes from the source at its best of late, seconds: a reader's goes before others. */
    double sourceSeconds(long bytes) {
        return cheapest.sourceSecondsAtBest(bytes);
    }

    /**
     * A reader that has joined a flight waits. If a peer is late with the sample, the source is asked as well: {@code fetches} runs that, at once on
     * the calling thread or later on another, for as long as the source takes.
     */
    void waits(int file, CompletableFuture<SampleBuffer> reader, Executor fetches) {
        SampleFlight flight = router.hasPeers() && !afterwards.makes(file) ? flights.of(file) : null;
        if (flight != null) {
            hedged.waits(file, flight, reader, fetches);
        }
    }

    /**
     * The same, but without a flight it fetches on the calling thread. The reader has its bytes as soon as they are there; the caller goes
     * on until the whole sample is.
     */
    void fetchFor(int file, long upTo, CompletableFuture<SampleBuffer> reader) throws SourceException {
        if (afterwards.makes(file)) {
            afterwards.fetchFor(file, reader);
            return;
        }
        fetchFor(file, upTo, FetchRequest.waitedFor(FetchUrgency.READER), reader);
    }

    /**
     * The same for a reader of a part of a large sample, from the places that are nearer than the source and hold the sample. {@code reader} fails with
     * {@link UnwantedException} when none gives it within {@code mostSeconds}, a peer is late and the source is quick, or a flight that it has joined goes to the source.
     */
    void fetchNear(int file, long upTo, double mostSeconds, CompletableFuture<SampleBuffer> reader)
            throws SourceException {
        try {
            fetchFor(file, upTo, FetchRequest.near(mostSeconds), reader);
        } catch (UnwantedException e) {
            // The reader has been told.
        }
    }

    private void fetchFor(int file, long upTo, FetchRequest request, CompletableFuture<SampleBuffer> reader)
            throws SourceException {
        while (true) {
            SampleBuffer held = router.held(file);
            if (held != null) {
                router.keepOrRelease(file, held, true);
                if (!reader.complete(held)) {
                    held.release();
                }
                return;
            }
            if (request.isNear() ? joinNear(file, upTo, reader) : join(file, upTo, reader)) {
                return;
            }
            SampleFlight mine = flights.begin(file, request);
            if (mine != null) {
                boolean waits = request.isNear() ? mine.awaitNear(upTo, reader) : mine.await(upTo, reader);
                assert waits : "it has not begun";
                router.end(file, mine, request, () -> {
                            if (request.isNear()) {
                                hedged.waitsNear(file, mine, reader);
                            } else if (router.hasPeers()) {
                                hedged.waits(file, mine, reader, Runnable::run);
                            }
                            return cheapest.fetch(file, mine, request);
                        })
                        .release();
                return;
            }
        }
    }
}
