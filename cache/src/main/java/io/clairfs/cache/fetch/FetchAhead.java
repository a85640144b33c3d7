package io.clairfs.cache.fetch;

import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A fetch from a peer that no thread waits for: many are on their way at once, as many bytes as the path to the peer holds, whatever the number
 * of loaders (KSpeed, ICNP 2024, section III-D: batches paced by the measured delay).
 *
 * <p>Life cycle: {@link FetchRouter#ahead} makes it. If {@link #begin} returns true, the caller {@linkplain #end ends} or {@linkplain #abandon abandons} it once the peer has
 * answered, which takes no longer than the peer's patience. Used by one thread at a time.
 */
public final class FetchAhead {
    private static final Logger LOG = System.getLogger(FetchAhead.class.getName());

    private final FetchRouter router;
    private final int file;
    private final FetchRequest request;
    private final CheapestPlace.AheadOfTime peer;
    private final SampleFlight flight;
    private PeerCosts.@Nullable Asked room;
    private @Nullable CompletableFuture<NearPlaces.Given> given;
    private boolean isAbandoned;

    FetchAhead(FetchRouter router, int file, FetchRequest request, CheapestPlace.AheadOfTime peer) {
        this.router = router;
        this.file = file;
        this.request = request;
        this.peer = peer;
        flight = new SampleFlight(null, request);
    }

    /** Takes room on the path to the peer, which {@link #begin} uses or gives back. Returns false when the peer has to send first what it owes. */
    public boolean takeRoom() {
        room = peer.room();
        return room != null;
    }

    /**
     * Asks the peer, for which there is {@linkplain #takeRoom room}. Readers who want the sample wait for this fetch from now on.
     *
     * @param answered runs when the peer has answered or its time is over, on a thread that must not be kept
     * @return false when another fetch of the sample is under way
     */
    public boolean begin(Runnable answered) {
        PeerCosts.Asked taken = Objects.requireNonNull(room, "no room was taken");
        if (!router.begin(file, flight)) {
            taken.end();
            return false;
        }
        CompletableFuture<NearPlaces.Given> asked;
        try {
            asked = peer.ask(taken);
        } catch (Throwable t) {
            taken.end();
            throw t;
        }
        given = asked;
        CompletableFuture<Void> _ = asked.thenRun(answered);
        return true;
    }

    /** Whether the peer has answered with the sample. */
    public boolean isGiven() {
        return sample() != null;
    }

    private @Nullable SampleBuffer sample() {
        return given == null ? null : given.join().sample();
    }

    /**
     * The peer has answered without the sample, which it takes a thread that may block to {@link #end}. Until there is one, nobody waits for this fetch:
     * readers who do already get their sample on a thread of its own, and those who come fetch for themselves.
     */
    public void notGiven() {
        isAbandoned = true;
        if (!router.giveUp(file, flight)) {
            router.besides(this::endForReaders);
        }
    }

    /**
     * The sample with a reference for the caller, as {@link FetchRouter#fetch(int, long, Stager)} gives it. If the peer did not give it, this blocks
     * until it comes from elsewhere.
     */
    public SampleBuffer end() throws SourceException {
        if (isAbandoned) {
            return router.fetchElsewhere(file, request, peer);
        }
        SampleBuffer sample = sample();
        SampleBuffer ended =
                router.end(file, flight, request, () -> sample == null ? peer.fromElsewhere(flight, request) : sample);
        if (sample != null && sample != ended) {
            sample.release();
        }
        return ended;
    }

    /**
     * Gives the fetch up once the peer has answered: the caller does not {@linkplain #end end} it. Readers who wait get their sample all the same.
     */
    public void abandon() {
        SampleBuffer sample = sample();
        if (sample != null) {
            router.arrived(file, flight, sample);
            sample.release();
        } else if (!isAbandoned) {
            notGiven();
        }
    }

    private void endForReaders() {
        FetchRequest byReader = FetchRequest.waitedFor(FetchUrgency.READER);
        try {
            router.end(file, flight, byReader, () -> peer.fromElsewhere(flight, byReader))
                    .release();
        } catch (SourceException | RuntimeException | OutOfMemoryError e) { // as the readers are told
            LOG.log(Level.DEBUG, "not fetched for readers after a peer did not give it", e);
        }
    }
}
