package io.clairfs.cache.prefetch;

import io.clairfs.cache.fetch.FetchAhead;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.Stager;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.tier.SampleBuffer;
import org.jspecify.annotations.Nullable;

/** One sample to stage, from its claim to its end. It may pass from thread to thread; one at a time uses it. */
final class StagingTask implements Stager, AutoCloseable {
    private final LoaderShares shares;
    private final LoaderShares.Claim claim;
    private final StagingBuffer.Loading loading;
    private final Runnable fetched;
    private @Nullable FetchAhead ahead;

    /** {@code fetched} runs when the loader of this claim is free for the next. */
    StagingTask(LoaderShares shares, LoaderShares.Claim claim, StagingBuffer.Loading loading, Runnable fetched) {
        this.shares = shares;
        this.claim = claim;
        this.loading = loading;
        this.fetched = fetched;
    }

    LoaderShares.Claim claim() {
        return claim;
    }

    StagingBuffer.Loading loading() {
        return loading;
    }

    int file() {
        return claim.what().file();
    }

    /** A peer was asked for it. */
    void sentAhead(FetchAhead fetch) {
        ahead = fetch;
    }

    /** Whether a peer was asked, and readers may wait for what it gives. */
    boolean isSentAhead() {
        return ahead != null;
    }

    /** Another fetch of the sample is under way. */
    void notSentAhead() {
        ahead = null;
    }

    /** Whether a peer that was asked has given it, so that {@link #fetch} does not block. */
    boolean isGiven() {
        return ahead != null && ahead.isGiven();
    }

    /** The peer that was asked has not given it: {@link #fetch} blocks. */
    void notGiven() {
        FetchAhead sent = ahead;
        if (sent != null) {
            sent.notGiven();
        }
    }

    /** The sample with a reference for the caller. */
    SampleBuffer fetch(FetchRouter router) throws SourceException {
        FetchAhead sent = ahead;
        ahead = null;
        return sent == null ? router.fetch(file(), claim.number(), this) : sent.end();
    }

    @Override
    public void bytesArrived() {
        fetched();
    }

    /** The loader is free for the next sample: what is left to do with this one, serving readers who wait and pushing it, keeps no source busy. */
    void fetched() {
        shares.done(claim);
        fetched.run();
    }

    @Override
    public double spareSeconds() {
        return shares.spareSeconds(claim);
    }

    /** Gives up what a peer was asked for, if that was not fetched. */
    @Override
    public void close() {
        FetchAhead sent = ahead;
        ahead = null;
        try {
            if (sent != null) {
                sent.abandon();
            }
        } finally {
            fetched();
            loading.close();
        }
    }
}
