package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Asks a quick source as well for a reader whose sample is on its way from a peer that is late; the first answer counts.
 *
 * <p>Hedged requests: Dean and Barroso, The Tail at Scale, CACM 2013. A loader asks a peer when nobody waits for the sample yet; its trainer
 * may be there sooner than the answer, above all while little is known of the peer. Thread-safe without a lock.
 */
final class HedgedReads {
    private static final Logger LOG = System.getLogger(HedgedReads.class.getName());

    /** A peer is late for a reader when it has had so many times what the source takes. */
    private static final int LATE_SOURCE_READS = 4;

    /** A slower source is not asked twice: all nodes share it, and on busy machines many peers are late. */
    private static final double QUICK_SOURCE_SECONDS = 0.005;

    /** One that seems slower, but was quick at its best of late, is asked twice so often in a row, to see whether it is, and then once a pause. */
    private static final int TRIALS = 4;

    private static final long TRIAL_PAUSE_NS = TimeUnit.SECONDS.toNanos(10);

    private final DatasetTree tree;
    private final Admission admission;
    private final SamplesInUse inUse;
    private final PeerFetch peers;
    private final CheapestPlace cheapest;
    private final Counters counters;
    private final Executor later;
    private final TokenBucket trials;

    /** {@code later} runs, on a thread that may block, what is due after a while; {@code clockNs} is as {@link System#nanoTime}. */
    HedgedReads(FetchPlaces places, CheapestPlace cheapest, Counters counters, LongSupplier clockNs, Executor later) {
        trials = new TokenBucket(TRIALS, TRIAL_PAUSE_NS, clockNs);
        tree = places.tree();
        admission = places.admission();
        inUse = places.inUse();
        peers = places.peers();
        this.cheapest = cheapest;
        this.counters = counters;
        this.later = later;
    }

    /**
     * A reader waits for a flight. If it comes from a peer, the source is asked once that is late; {@code fetches} runs that, now on the calling
     * thread or later on another.
     */
    void waits(int file, SampleFlight flight, CompletableFuture<SampleBuffer> reader, Executor fetches) {
        whenLate(file, flight, reader, fetches, isTrial -> ask(file, flight, reader, isTrial));
    }

    /** The same for a reader of a part of a large sample, for which the source is not to be asked as a whole: {@code reader} fails with {@link UnwantedException} then. */
    void waitsNear(int file, SampleFlight flight, CompletableFuture<SampleBuffer> reader) {
        whenLate(file, flight, reader, Runnable::run, isTrial -> passOver(flight, reader, isTrial));
    }

    private void whenLate(
            int file,
            SampleFlight flight,
            CompletableFuture<SampleBuffer> reader,
            Executor fetches,
            Consumer<Boolean> askSource) {
        if (reader.isDone() || !isFromPeer(file, flight)) {
            return;
        }
        long bytes = tree.keptSize(file);
        if (cheapest.sourceSecondsAtBest(bytes) > QUICK_SOURCE_SECONDS) {
            return;
        }
        double seconds = cheapest.sourceSeconds(bytes);
        long lateNs = (long) (LATE_SOURCE_READS * seconds * TimeUnit.SECONDS.toNanos(1));
        long leftNs = lateNs - flight.ageNs();
        Runnable ask = () -> askSource.accept(seconds > QUICK_SOURCE_SECONDS);
        if (leftNs <= 0) {
            fetches.execute(ask);
        } else {
            CompletableFuture.delayedExecutor(leftNs, TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(() -> askLater(flight, reader, () -> fetches.execute(ask)));
        }
    }

    /** Begins no thread for a reader who has its sample: nearly all have. */
    private void askLater(SampleFlight flight, CompletableFuture<SampleBuffer> reader, Runnable ask) {
        if (isStillToAsk(flight, reader)) {
            later.execute(ask);
        }
    }

    private boolean isFromPeer(int file, SampleFlight flight) {
        return peers.mayHave(file)
                && !flight.isAtSource()
                && !admission.residents().isHere(file)
                && !tree.entry(file).isMade();
    }

    private static boolean isStillToAsk(SampleFlight flight, CompletableFuture<SampleBuffer> reader) {
        return !reader.isDone() && !flight.isAtSource() && !flight.isHedged();
    }

    private void passOver(SampleFlight flight, CompletableFuture<SampleBuffer> reader, boolean isTrial) {
        if (isStillToAsk(flight, reader)
                && (!isTrial || trials.take())
                && reader.completeExceptionally(new UnwantedException())) {
            counters.peersPassedOver.increment();
        }
    }

    private void ask(int file, SampleFlight flight, CompletableFuture<SampleBuffer> reader, boolean isTrial) {
        if (!isStillToAsk(flight, reader) || (isTrial && !trials.take()) || !flight.hedge()) {
            return;
        }
        try {
            SampleBuffer sample = cheapest.fromSource(
                    tree.entry(file).file(), new SampleFlight(null, FetchRequest.waitedFor(FetchUrgency.READER)));
            try {
                counters.peersPassedOver.increment();
                admission.fetched(file, sample, true);
                inUse.readInPieces(file, sample);
                flight.serve(sample);
            } finally {
                sample.release();
            }
        } catch (SourceException
                | RuntimeException
                | OutOfMemoryError e) { // the thread may be one that answers the kernel
            LOG.log(Level.DEBUG, "the reader goes on waiting for the peer", e);
        }
    }
}
