package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.source.SourceException;
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
    private final Semaphore pushes = new Semaphore(PUSHES_AT_ONCE, true);

    StagingPrefetcher(
            DatasetTree tree,
            FetchRouter router,
            SamplesInUse inUse,
            StagingBuffer staging,
            LoaderShares shares,
            WorkSignal signal,
            Counters counters) {
        this.tree = tree;
        this.router = router;
        this.inUse = inUse;
        this.staging = staging;
        this.shares = shares;
        this.signal = signal;
        this.counters = counters;
    }

    /** Stages the next sample of the rank that the calling loader is to work for. Returns whether there was one. */
    boolean stageOne() throws SourceException, JobFailedException {
        LoaderShares.Claim claim = shares.claim();
        if (claim == null) {
            return false;
        }
        try {
            StreamWindow.ToStage next = claim.what();
            if (staging.claim(next.place())) {
                stage(next);
            } else {
                // The job was stopped meanwhile; what was to make room must not stay half gone.
                staging.drop(next.leaving());
            }
        } finally {
            shares.done(claim);
        }
        return true;
    }

    private void stage(StreamWindow.ToStage next) throws SourceException {
        SampleBuffer buffer = null;
        SourceException failure = null;
        try {
            buffer = router.fetch(next.file(), false);
            inUse.take(next.file(), buffer); // a reader may ask for it before it is there
        } catch (SourceException e) {
            failure = e;
        }
        pushes.acquireUninterruptibly();
        try {
            // On the same thread: pages that were freed just now are the ones that the kernel gives out next.
            staging.drop(next.leaving());
            if (buffer != null) {
                staging.stage(next.place(), buffer);
                counters.staged.increment();
            }
        } catch (IOException e) {
            LOG.log(
                    Level.DEBUG,
                    "not staged: " + PythonText.show(tree.entry(next.file()).path()),
                    e);
            staging.fail(next.place());
        } finally {
            pushes.release();
            if (buffer != null) {
                inUse.letGo(next.file(), buffer);
                buffer.release();
            }
        }
        if (failure != null) {
            staging.fail(next.place());
            signal.wake();
            throw failure;
        }
        if (!next.leaving().isEmpty()) {
            signal.wake();
        }
    }
}
