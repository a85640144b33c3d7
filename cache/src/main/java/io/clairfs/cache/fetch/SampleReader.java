package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Answers readers whose sample was not staged in time, and never lets one wait longer than the read timeout.
 *
 * <p>A request asks for a piece of a file, 128 KiB at most. The whole sample is fetched and held for a few seconds, so that
 * the requests that follow cost no second fetch; a file too large for that is read piece by piece from the source.
 */
public final class SampleReader implements AutoCloseable {
    private static final int MOST_FETCHES = 256;

    /** The kernel asks for fewer at once: {@code max_background} of them read ahead, and one for each thread that reads directly. */
    private static final int MOST_WAITING = 65_536;

    private static final long LARGEST_WHOLE = SamplesInUse.READERS_BYTES / 4;

    private final DatasetTree tree;
    private final Source source;
    private final FetchRouter router;
    private final Counters counters;
    private final long timeoutMs;
    private final ThreadPoolExecutor fetchers;
    private final SamplesInUse inUse;
    private final Set<CompletableFuture<SampleBuffer>> waiting = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Readers wait for {@code timeoutMs} at most. */
    public SampleReader(
            DatasetTree tree,
            Source source,
            FetchRouter router,
            SamplesInUse inUse,
            Counters counters,
            long timeoutMs) {
        this.inUse = inUse;
        this.tree = tree;
        this.source = source;
        this.router = router;
        this.counters = counters;
        this.timeoutMs = timeoutMs;
        fetchers = new ThreadPoolExecutor(
                0,
                MOST_FETCHES,
                10,
                TimeUnit.SECONDS,
                new Handover(),
                Thread.ofPlatform().daemon().name("reader-fetch-", 0).factory(),
                (work, pool) -> {
                    if (!pool.isShutdown()) {
                        pool.getQueue().add(work);
                    }
                });
    }

    /** How long a reader may wait, milliseconds. */
    public long timeoutMs() {
        return timeoutMs;
    }

    /**
     * Fills {@code into} from {@code offset} of the file on. Returns the bytes filled: all of them, or up to the file's end.
     *
     * @throws SourceTimeoutException when the source has not answered within the read timeout
     */
    public int read(int file, long offset, MemorySegment into) throws SourceException {
        return read(file, offset, into, timeoutMs);
    }

    /** The same for a reader that may wait for {@code mostMs} only. */
    public int read(int file, long offset, MemorySegment into, long mostMs) throws SourceException {
        SourceFile from = tree.entry(file).file();
        int length = (int) Math.min(into.byteSize(), Math.max(0, from.size() - offset));
        if (length == 0) {
            return 0;
        }
        MemorySegment target = into.asSlice(0, length);
        SampleBuffer here = router.fromTiersMemory(file);
        if (here != null) {
            counters.fromMemory.addPart(length, offset == 0);
        } else {
            here = inUse.get(file);
        }
        if (here != null) {
            copy(here, offset, target);
        } else if (from.size() > LARGEST_WHOLE) {
            readLarge(file, from, offset, target, mostMs);
        } else {
            copy(sample(file, from, offset + length, mostMs), offset, target);
        }
        return length;
    }

    private static void copy(SampleBuffer from, long offset, MemorySegment target) {
        try {
            MemorySegment.copy(from.bytes(), offset, target, 0, target.byteSize());
        } finally {
            from.release();
        }
    }

    /** A sample that is to be had as a whole: a thread fetches it unless one does already, whose bytes before {@code upTo} are then enough. */
    private SampleBuffer sample(int file, SourceFile from, long upTo, long mostMs) throws SourceException {
        CompletableFuture<SampleBuffer> arriving = router.arriving(file, upTo);
        return arriving == null
                ? awaited(from, mostMs, () -> router.fetch(file, true))
                : awaited(from, mostMs, arriving);
    }

    /**
     * A piece of a sample that is too large to be fetched for every reader of a part of it: from a fetch that is under way, from a tier or a peer
     * as a whole if it can be held for the requests that follow, else from the source; when that fails, from a tier after all.
     */
    private void readLarge(int file, SourceFile from, long offset, MemorySegment target, long mostMs)
            throws SourceException {
        CompletableFuture<SampleBuffer> arriving = router.arriving(file, offset + target.byteSize());
        if (arriving != null) {
            copy(awaited(from, mostMs, arriving), offset, target);
        } else if (router.isNear(file) && inUse.hasRoomForReaders(from.size())) {
            copy(awaited(from, mostMs, () -> router.fetch(file, true)), offset, target);
        } else {
            readPiece(file, from, offset, target, mostMs);
        }
    }

    /** A piece is read into memory of its own: if the reader gives up, its buffer must not be written to any more. */
    private void readPiece(int file, SourceFile from, long offset, MemorySegment target, long mostMs)
            throws SourceException {
        SampleBuffer piece = awaited(from, mostMs, () -> {
            SampleBuffer own = SampleBuffer.allocate(target.byteSize());
            try {
                source.read(from, offset, own.bytes());
                counters.fromSource.add(own.size());
                return own;
            } catch (SourceException e) {
                if (!router.isNear(file)) {
                    own.release();
                    throw e;
                }
            } catch (Throwable t) {
                own.release();
                throw t;
            }
            try {
                copy(router.fetch(file, true), offset, own.bytes());
                return own;
            } catch (Throwable t) {
                own.release();
                throw t;
            }
        });
        copy(piece, 0, target);
    }

    private SampleBuffer awaited(SourceFile from, long mostMs, Callable<SampleBuffer> fetch) throws SourceException {
        CompletableFuture<SampleBuffer> promise = new CompletableFuture<>();
        if (waiting.size() >= MOST_WAITING) {
            throw new SourceTimeoutException(PythonText.show(from.path()), timeoutMs);
        }
        fetchers.execute(() -> fulfil(promise, fetch));
        return awaited(from, mostMs, promise);
    }

    @SuppressWarnings("CollectionUndefinedEquality") // a future is equal to itself alone, which is what is meant
    private SampleBuffer awaited(SourceFile from, long mostMs, CompletableFuture<SampleBuffer> promise)
            throws SourceException {
        long start = System.nanoTime();
        waiting.add(promise);
        try {
            if (closed) {
                return givenUp(promise, ended(from));
            }
            return promise.get(mostMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw FetchRouter.unwrap(e.getCause());
        } catch (TimeoutException e) {
            return givenUp(promise, new SourceTimeoutException(PythonText.show(from.path()), mostMs));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return givenUp(promise, new SourceTimeoutException(PythonText.show(from.path()), 0));
        } finally {
            waiting.remove(promise);
            long waitedNs = System.nanoTime() - start;
            counters.stalledNs.add(waitedNs);
            counters.readWait.record(waitedNs);
        }
    }

    /** Stops waiting, unless the sample came in the last moment. */
    private static SampleBuffer givenUp(CompletableFuture<SampleBuffer> promise, SourceException reason)
            throws SourceException {
        if (promise.completeExceptionally(reason)) {
            throw reason;
        }
        if (promise.state() == Future.State.SUCCESS) {
            return promise.resultNow();
        }
        throw FetchRouter.unwrap(promise.exceptionNow());
    }

    /** What is brought when nobody waits for it any more is let go; what nobody waits for when its turn comes is not fetched. */
    private static void fulfil(CompletableFuture<SampleBuffer> promise, Callable<SampleBuffer> fetch) {
        if (promise.isDone()) {
            return;
        }
        try {
            SampleBuffer brought = fetch.call();
            if (!promise.complete(brought)) {
                brought.release();
            }
        } catch (Throwable t) {
            promise.completeExceptionally(t);
        }
    }

    /** Threads up to a number, then a queue: the pool of the JDK has it the other way round. */
    private static final class Handover extends LinkedTransferQueue<Runnable> {
        private static final long serialVersionUID = 1;

        @Override
        public boolean offer(Runnable work) {
            return tryTransfer(work);
        }
    }

    private static SourceFailedException ended(SourceFile from) {
        return new SourceFailedException(PythonText.show(from.path()) + ": the mount is being ended", Errno.EIO);
    }

    /** Lets go of all readers, with an error; no reader waits any more. */
    @Override
    public void close() {
        closed = true;
        for (CompletableFuture<SampleBuffer> promise : waiting) {
            promise.completeExceptionally(new SourceFailedException("the mount is being ended", Errno.EIO));
        }
        fetchers.shutdown();
    }
}
