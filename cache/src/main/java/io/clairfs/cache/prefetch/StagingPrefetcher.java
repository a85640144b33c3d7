package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.FetchUrgency;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Semaphore;

/**
 * Stages samples, in the order in which their ranks will read them. One call stages one sample; {@link Prefetcher}'s loaders
 * make many at a time.
 *
 * <p>Pushes into the staging area are few at a time, for they cost processor time that the trainer needs.
 */
final class StagingPrefetcher {
    private static final Logger LOG = System.getLogger(StagingPrefetcher.class.getName());
    private static final int PUSHES_AT_ONCE = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);

    private final DatasetTree tree;
    private final FetchRouter router;
    private final SamplesInUse inUse;
    private final StagingBuffer staging;
    private final LoaderShares shares;
    private final WorkSignal signal;
    private final Counters counters;
    private final boolean spare;
    private final Semaphore pushes = new Semaphore(PUSHES_AT_ONCE, true);

    /** Loaders that may wait for a disk while a trainer is short of samples: half of them, for what is dropped is read from the source once more. */
    private final Semaphore patience;

    StagingPrefetcher(
            DatasetTree tree,
            FetchRouter router,
            SamplesInUse inUse,
            StagingBuffer staging,
            LoaderShares shares,
            WorkSignal signal,
            int loaders,
            Counters counters) {
        this.tree = tree;
        this.router = router;
        this.inUse = inUse;
        this.staging = staging;
        this.shares = shares;
        this.signal = signal;
        this.counters = counters;
        spare = threads(loaders) > loaders;
        patience = new Semaphore(loaders / 2);
    }

    /** How many threads so many loaders need: even a single one fetches the next sample while the last one is pushed. */
    static int threads(int loaders) {
        return Math.max(loaders, 1 + PUSHES_AT_ONCE);
    }

    /** Stages the next sample of the rank that the calling loader is to work for. Returns whether there was one. */
    boolean stageOne() throws SourceException, JobFailedException {
        LoaderShares.Claim claim = shares.claim();
        if (claim == null) {
            return false;
        }
        StreamWindow.ToStage next = claim.what();
        try (StagingBuffer.Loading loading = staging.load(next.place(), next.leaving())) {
            if (loading.isMine()) { // else the job was stopped meanwhile, or another position brings it
                stage(claim, loading);
            }
        } catch (Throwable t) {
            signal.wake(); // there is room again
            throw t;
        } finally {
            fetched(claim);
        }
        if (!next.leaving().isEmpty()) {
            signal.wake();
        }
        return true;
    }

    /** The loader is free for the next sample. */
    private void fetched(LoaderShares.Claim claim) {
        shares.done(claim);
        if (spare) {
            signal.wake();
        }
    }

    private void stage(LoaderShares.Claim claim, StagingBuffer.Loading loading) throws SourceException {
        int file = claim.what().file();
        SampleBuffer buffer = router.fetch(file, FetchUrgency.STAGING, claim.number());
        fetched(claim);
        try {
            inUse.take(file, buffer); // a reader may ask for it before it is there
            push(file, buffer, loading);
            keepPatiently(file, buffer);
        } finally {
            inUse.letGo(file, buffer);
            buffer.release();
        }
    }

    private void keepPatiently(int file, SampleBuffer buffer) {
        if (!shares.isHungry()) {
            router.keepPatiently(file, buffer);
        } else if (patience.tryAcquire()) {
            try {
                router.keepPatiently(file, buffer);
            } finally {
                patience.release();
            }
        }
    }

    private void push(int file, SampleBuffer buffer, StagingBuffer.Loading loading) {
        pushes.acquireUninterruptibly();
        try {
            // What leaves does so on the same thread: pages that were freed just now are the ones that the kernel gives
            // out next.
            long start = System.nanoTime();
            loading.stage(buffer);
            counters.pushTook.record(System.nanoTime() - start);
            counters.staged.increment();
        } catch (IOException e) {
            LOG.log(
                    Level.DEBUG,
                    "not staged: " + PythonText.show(tree.entry(file).path()),
                    e);
        } finally {
            pushes.release();
        }
    }
}
