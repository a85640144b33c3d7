package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.placement.Admission;
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
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Stages samples in the order in which their ranks will read them. One call stages one sample; the loaders of {@link Prefetcher} call it
 * concurrently.
 *
 * <p>Few pushes into the staging area run at once, for they cost processor time that the trainer needs. While samples come from memory no
 * more loaders work than push, each one sample after the other: handing pushes from thread to thread would cost as much again. A loader
 * whose sample comes from farther away wakes another one. Samples that peers hold are sent ahead of time ({@link AheadQueue}).
 */
final class StagingPrefetcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(StagingPrefetcher.class.getName());
    private static final int MOST_BEGUN_AT_ONCE = 8;
    private static final long MOST_TO_PUSH_BYTES = 64L << 20;
    private static final int PUSHES_AT_ONCE = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);

    private final DatasetTree tree;
    private final FetchRouter router;
    private final Admission admission;
    private final SamplesInUse inUse;
    private final StagingBuffer staging;
    private final LoaderShares shares;
    private final WorkSignal signal;
    private final Counters counters;
    private final boolean spare;
    private final Semaphore pushes = new Semaphore(PUSHES_AT_ONCE, true);

    /** Loaders that have fetched their sample and push it, or wait to push it. */
    private final AtomicInteger pushing = new AtomicInteger();

    /** The bytes of their samples. */
    private final AtomicLong toPushBytes = new AtomicLong();

    /** Whether the sample that was claimed last was in memory. */
    private volatile boolean isFromMemory;

    /**
     * Loaders that may wait for a disk while a trainer is short of samples: half of them, for a dropped sample is read from the source once
     * more.
     */
    private final Semaphore patience;

    private final AheadQueue ahead;

    StagingPrefetcher(
            DatasetTree tree,
            FetchRouter router,
            Admission admission,
            SamplesInUse inUse,
            StagingBuffer staging,
            LoaderShares shares,
            WorkSignal signal,
            WorkSignal answers,
            int loaders,
            Counters counters) {
        this.tree = tree;
        this.router = router;
        this.admission = admission;
        this.inUse = inUse;
        this.staging = staging;
        this.shares = shares;
        this.signal = signal;
        this.counters = counters;
        spare = threads(loaders) > loaders;
        patience = new Semaphore(loaders / 2);
        ahead = new AheadQueue(router, answers);
    }

    /** How many threads call {@link #endOneAnswered}. */
    static int threadsForAnswers() {
        return PUSHES_AT_ONCE;
    }

    /** How many threads so many loaders need: even a single loader fetches the next sample while the last one is pushed. */
    static int threads(int loaders) {
        return Math.max(loaders, 1 + PUSHES_AT_ONCE);
    }

    /** Stages the next sample of the rank that the calling loader works for, or has a peer send it. Returns whether there was one. */
    boolean stageOne() throws SourceException, JobFailedException {
        if (isBusyPushing()) {
            return false; // a loader that pushes looks for the next, and wakes others if need be
        }
        StagingTask left = ahead.left();
        if (left != null) {
            stage(left);
            return true;
        }
        StagingTask aside = ahead.aside();
        if (aside != null && isBegunOrStaged(aside)) {
            return true;
        }
        StagingTask next = claim();
        if (next == null) {
            return false;
        }
        boolean _ = isBegunOrStaged(next);
        return true;
    }

    /**
     * Ends one task that a peer has answered, and has peers send as many more as there is room for. Returns whether there was one. Waits for no
     * sample.
     */
    boolean endOneAnswered() throws SourceException, JobFailedException {
        StagingTask answered = ahead.answered();
        if (answered == null) {
            return false;
        }
        if (answered.isGiven()) {
            stage(answered);
        } else {
            try {
                answered.notGiven();
            } catch (Throwable t) {
                answered.close();
                throw t;
            }
            leaveToLoader(answered);
        }
        beginMore();
        return true;
    }

    private void beginMore() throws JobFailedException {
        AheadQueue.Begun begun = AheadQueue.Begun.YES;
        for (int i = 0; i < MOST_BEGUN_AT_ONCE && begun != AheadQueue.Begun.LATER; i++) {
            StagingTask next = ahead.aside();
            if (next == null) {
                next = claim();
            }
            if (next == null) {
                return;
            }
            begun = ahead.begin(next);
            if (begun == AheadQueue.Begun.NO) {
                leaveToLoader(next);
            }
        }
    }

    private void leaveToLoader(StagingTask task) {
        ahead.leave(task);
        signal.wake(1);
    }

    private @Nullable StagingTask claim() throws JobFailedException {
        LoaderShares.Claim claim = shares.claim();
        if (claim == null) {
            return null;
        }
        StreamWindow.ToStage what = claim.what();
        isFromMemory = router.isInMemory(what.file());
        return new StagingTask(shares, claim, staging.load(what.place(), what.leaving()), this::loaderIsFree);
    }

    /** Has a peer send the sample, or else stages it here. Returns false if the task is put aside. */
    private boolean isBegunOrStaged(StagingTask task) throws SourceException {
        AheadQueue.Begun begun = ahead.begin(task);
        if (begun == AheadQueue.Begun.NO) {
            if (!isFromMemory) {
                signal.wake(1);
            }
            stage(task);
        }
        return begun != AheadQueue.Begun.LATER;
    }

    /** Brings a sample and stages it. Blocks for as long as its fetch takes. */
    private void stage(StagingTask task) throws SourceException {
        try (task) {
            if (task.loading().isMine()) { // else the job was stopped meanwhile, or another position brings it
                push(task);
            }
        } catch (Throwable t) {
            signal.wake(); // there is room again
            throw t;
        }
        if (!task.claim().what().leaving().isEmpty()) {
            wakeUnlessBusyPushing();
        }
    }

    /** Whether more samples need not be fetched now: those from memory are pushed as fast as they can be, or so much waits to be pushed that more would only take memory. */
    private boolean isBusyPushing() {
        int loaders = pushing.get();
        return (isFromMemory && loaders >= PUSHES_AT_ONCE)
                || (loaders > PUSHES_AT_ONCE && toPushBytes.get() >= MOST_TO_PUSH_BYTES);
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

    private void loaderIsFree() {
        if (spare) {
            wakeUnlessBusyPushing();
        }
    }

    /** Brings what is missing of a large sample that was staged and lost pages, for the whole would be read from the source once more. */
    private boolean isMended(StagingTask task) throws SourceException {
        int file = task.file();
        if (tree.fileSize(file) < SampleReader.LEAST_IN_PARTS_BYTES || tree.isMade(file) || router.isNear(file)) {
            return false;
        }
        try {
            boolean mended = task.loading()
                    .mend((offset, into) ->
                            router.readPart(file, offset, task.claim().number(), into));
            if (mended) {
                counters.staged.increment();
            }
            return mended;
        } catch (IOException e) {
            LOG.log(
                    Level.DEBUG,
                    "not mended: " + PythonText.show(tree.entry(file).path()),
                    e);
            return false;
        }
    }

    private void push(StagingTask task) throws SourceException {
        if (!task.isSentAhead() && isMended(task)) {
            return;
        }
        int file = task.file();
        boolean given = task.isGiven();
        SampleBuffer buffer = task.fetch(router);
        task.fetched();
        try {
            inUse.take(file, buffer); // a reader may ask for it before it is staged
            if (router.keepsShown(file)) {
                admission.fetchedFor(task.claim().queue().job(), file, buffer);
            }
            push(file, buffer, task.loading());
            if (!given || !areAnswersWaiting()) {
                keepPatiently(file, buffer);
            }
        } finally {
            inUse.letGo(file, buffer);
            buffer.release();
        }
    }

    /** Whether no thread that ends what peers have given may wait for a disk: a trainer or other answers would wait with it. */
    private boolean areAnswersWaiting() {
        return shares.isHungry() || ahead.hasAnswers();
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
        toPushBytes.addAndGet(buffer.size());
        pushes.acquireUninterruptibly();
        try {
            if (!loading.isWanted()) { // the trainer was here first
                if (buffer.size() >= SampleReader.LEAST_IN_PARTS_BYTES) {
                    loading.stageRead(buffer);
                }
                return;
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
            long left = toPushBytes.addAndGet(-buffer.size());
            if (left < MOST_TO_PUSH_BYTES && left + buffer.size() >= MOST_TO_PUSH_BYTES) {
                signal.wake(1); // loaders may have found too much
            }
        }
    }

    /** Gives up what peers were asked for; nothing calls the other methods any more. */
    @Override
    public void close() {
        ahead.close();
    }
}
