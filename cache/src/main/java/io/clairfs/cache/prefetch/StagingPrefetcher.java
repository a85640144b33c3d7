package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.fetch.Stager;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stages samples in the order in which their ranks will read them. One call stages one sample; the loaders of {@link Prefetcher} call it
 * concurrently.
 *
 * <p>Few pushes into the staging area run at once, for they cost processor time that the trainer needs. While samples come from memory no
 * more loaders work than push, each one sample after the other: handing pushes from thread to thread would cost as much again. A loader
 * whose sample comes from farther away wakes another one.
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

    /** Loaders that have fetched their sample and push it, or wait to push it. */
    private final AtomicInteger pushing = new AtomicInteger();

    /** Whether the sample that was claimed last was in memory. */
    private volatile boolean isFromMemory;

    /**
     * Loaders that may wait for a disk while a trainer is short of samples: half of them, for a dropped sample is read from the source once
     * more.
     */
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

    /** How many threads so many loaders need: even a single loader fetches the next sample while the last one is pushed. */
    static int threads(int loaders) {
        return Math.max(loaders, 1 + PUSHES_AT_ONCE);
    }

    /** Stages the next sample of the rank that the calling loader works for. Returns whether there was one. */
    boolean stageOne() throws SourceException, JobFailedException {
        if (isBusyPushing()) {
            return false; // a loader that pushes looks for the next, and wakes others if need be
        }
        LoaderShares.Claim claim = shares.claim();
        if (claim == null) {
            return false;
        }
        StreamWindow.ToStage next = claim.what();
        isFromMemory = router.isInMemory(next.file());
        if (!isFromMemory) {
            signal.wake(1);
        }
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
            wakeUnlessBusyPushing();
        }
        return true;
    }

    private boolean isBusyPushing() {
        return isFromMemory && pushing.get() >= PUSHES_AT_ONCE;
    }

    private void wakeUnlessBusyPushing() {
        if (!isBusyPushing()) {
            signal.wake(1);
        }
    }

    /** How many loaders to wake when there may be work: each that finds some wakes another if that is of use. */
    static int firstToWake() {
        return 1 + PUSHES_AT_ONCE;
    }

    /** The loader is free for the next sample: what is left to do with this one, serving readers who wait and pushing it, keeps no source busy. */
    private void fetched(LoaderShares.Claim claim) {
        shares.done(claim);
        if (spare) {
            wakeUnlessBusyPushing();
        }
    }

    /** A loader with its claim, as the fetch of its sample knows it. */
    private final class Loader implements Stager {
        private final LoaderShares.Claim claim;

        Loader(LoaderShares.Claim claim) {
            this.claim = claim;
        }

        @Override
        public void bytesArrived() {
            fetched(claim);
        }

        @Override
        public double spareSeconds() {
            return shares.spareSeconds(claim);
        }
    }

    private void stage(LoaderShares.Claim claim, StagingBuffer.Loading loading) throws SourceException {
        int file = claim.what().file();
        SampleBuffer buffer = router.fetch(file, claim.number(), new Loader(claim));
        fetched(claim);
        try {
            inUse.take(file, buffer); // a reader may ask for it before it is staged
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
        pushing.incrementAndGet();
        pushes.acquireUninterruptibly();
        try {
            if (!loading.isWanted()) {
                return; // the trainer was here first
            }
            // Samples leave on the same thread: the kernel gives out next the pages that were freed just now.
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
            pushing.decrementAndGet();
        }
    }
}
