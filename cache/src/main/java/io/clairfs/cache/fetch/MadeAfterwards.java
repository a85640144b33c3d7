package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.view.KeptForm;
import java.util.concurrent.CompletableFuture;

/**
 * The samples that a view makes where tiers and peers hold the source's files: each is made when it is to be staged or read, by this node or by a peer
 * ({@link Making}), of the file from its cheapest place. While {@link KeptForm} is not decided the file comes from the source, and nothing is kept.
 *
 * <p>What is fetched here has the form that is shown, what {@link FetchRouter} fetches for it the form that is kept: flights of the one are never
 * joined by requests for the other. One flight of a sample at a time, as there. No lock is held during a fetch.
 */
final class MadeAfterwards {
    private final FetchRouter router;
    private final FlightTable flights;
    private final CheapestPlace cheapest;
    private final Making making;
    private final DatasetTree tree;
    private final SamplesInUse inUse;
    private final Counters counters;

    MadeAfterwards(
            FetchRouter router,
            FlightTable flights,
            CheapestPlace cheapest,
            Making making,
            DatasetTree tree,
            SamplesInUse inUse,
            Counters counters) {
        this.router = router;
        this.flights = flights;
        this.cheapest = cheapest;
        this.making = making;
        this.tree = tree;
        this.inUse = inUse;
        this.counters = counters;
    }

    /** Whether what is shown of this file is made after it is taken from where it is kept. */
    boolean makes(int file) {
        return tree.view().kept() != KeptForm.MADE && tree.isMade(file);
    }

    /** Whether it is not known yet in which form samples are kept: no tier is to be filled. */
    boolean isUndecided() {
        return tree.view().kept() == KeptForm.UNDECIDED;
    }

    /** The sample as it is shown, with a reference for the caller. */
    SampleBuffer fetch(int file, FetchRequest request) throws SourceException {
        while (true) {
            SampleBuffer used = inUse.get(file);
            if (used != null) {
                return used;
            }
            SampleFlight mine = flights.begin(file, request);
            if (mine != null) {
                return fetchAlone(file, mine, request);
            }
            router.urge(file, request.urgency(), request.order());
            SampleBuffer shared = flights.join(file, request);
            if (shared != null) {
                return shared;
            }
        }
    }

    /** As {@link ReaderFetches#join}. */
    boolean join(int file, long upTo, CompletableFuture<SampleBuffer> reader) {
        boolean joined = flights.await(file, upTo, reader);
        if (joined) {
            router.urge(file, FetchUrgency.READER, 0);
        }
        return joined;
    }

    /** As {@link ReaderFetches#fetchFor}. Nobody gets any bytes before all are made. */
    void fetchFor(int file, CompletableFuture<SampleBuffer> reader) throws SourceException {
        SampleBuffer sample = fetch(file, FetchRequest.waitedFor(FetchUrgency.READER));
        if (!reader.complete(sample)) {
            sample.release();
        }
    }

    private SampleBuffer fetchAlone(int file, SampleFlight flight, FetchRequest request) throws SourceException {
        return flights.end(file, flight, () -> {
            SampleBuffer sample = inUse.get(file); // another fetch may have ended between the look and the claim
            if (sample == null) {
                sample = made(file, flight, request);
            }
            router.nowInUse(file, flight, request, sample);
            return sample;
        });
    }

    private SampleBuffer made(int file, SampleFlight flight, FetchRequest request) throws SourceException {
        Entry sample = tree.entry(file);
        if (!tree.view().keepsSource()) {
            return cheapest.makeHere(sample, flight);
        }
        SampleBuffer elsewhere = making.elsewhere(file, sample.file().size(), sample.size(), request);
        return elsewhere == null ? ofKept(sample, request) : elsewhere;
    }

    /** What is made here of the file as it is kept. */
    private SampleBuffer ofKept(Entry sample, FetchRequest request) throws SourceException {
        try (MakingTimes.Work work = making.here(sample.file().size())) {
            SampleBuffer kept = router.fetchKept(sample.number(), request);
            SampleBuffer made = null;
            try {
                made = SampleBuffer.allocate(sample.size());
                tree.view().make(sample.file(), kept.bytes(), made.bytes());
                double _ = work.took();
                return made;
            } catch (Throwable t) {
                if (made != null) {
                    made.release();
                }
                throw t;
            } finally {
                kept.release();
            }
        }
    }

    /** The sample for a peer that has asked this node to make it. The file may come from any place: nobody waits for us to give it. */
    SampleBuffer makeForPeer(int file) throws SourceException {
        SampleBuffer used = inUse.get(file);
        if (used != null) {
            return used;
        }
        Entry sample = tree.entry(file);
        FetchRequest request = FetchRequest.waitedFor(FetchUrgency.PEER);
        SampleBuffer made = tree.view().keepsSource()
                ? ofKept(sample, request)
                : cheapest.makeHere(sample, new SampleFlight(null, request));
        counters.madeForPeers.increment();
        return made;
    }
}
