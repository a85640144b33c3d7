package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;

/**
 * Answers readers whose sample was not staged in time, and never lets one wait longer than the read timeout.
 *
 * <p>A request asks for a piece of a file, a MiB at most. The whole sample is fetched and held for a few seconds, so that
 * the requests that follow cost no second fetch; a file too large for that, or for the room that others leave, is read piece by piece from the source, unless a view makes it.
 *
 * <p>No thread waits for another. A sample in memory is given at once. A sample without a flight is fetched by the thread that asks, and
 * its reader has its bytes as soon as they are there. A request for a sample with a flight is answered by the thread that fetches.
 */
public final class SampleReader implements AutoCloseable {
    /** A staged sample of this size, bytes, of which pages were lost is not fetched as a whole for them. */
    public static final long LEAST_IN_PARTS_BYTES = 4 << 20;

    private static final int MOST_FETCHES = 256;

    /** Threads that hang at the source for good, beside those. */
    private static final int MOST_LOST_FETCHES = 384;

    /** The kernel asks for fewer at once: {@code max_background} of them read ahead, and one for each thread that reads directly. */
    private static final int MOST_WAITING = 65_536;

    /** A sample is fetched whole for a reader if so many like it may be held for readers. */
    private static final int WHOLE_AT_ONCE = 4;

    /** A reader of a large sample waits so long for a fetch that is under way to come to its bytes; later ones it reads for itself. */
    private static final double LONGEST_JOINED_SECONDS = 1;

    /** Bytes for which the source, or the place that gives a sample whole, takes a larger part of the read timeout are not waited for. */
    private static final double WHOLE_IN_TIMEOUT = 1 / 4.0;

    private final DatasetTree tree;
    private final Source source;
    private final FetchRouter router;
    private final ReaderFetches fetches;
    private final Counters counters;
    private final long timeoutMs;
    private final SamplesInUse inUse;
    private final FetchSlots slots;
    private final ReadWaits waits;
    private volatile IntPredicate staged = _ -> false;
    private volatile boolean closed;

    /** Readers wait for {@code timeoutMs} at most. */
    public SampleReader(
            DatasetTree tree,
            Source source,
            FetchRouter router,
            SamplesInUse inUse,
            Counters counters,
            ErrorLog errors,
            long timeoutMs) {
        waits = new ReadWaits(errors);
        this.inUse = inUse;
        this.tree = tree;
        this.source = source;
        this.router = router;
        fetches = router.readers();
        this.counters = counters;
        this.timeoutMs = timeoutMs;
        slots = new FetchSlots(
                MOST_FETCHES, MOST_LOST_FETCHES, TimeUnit.MILLISECONDS.toNanos(timeoutMs), System::nanoTime);
    }

    /** The origin of a request. It is told once, on any thread, and must not keep that thread waiting. */
    public interface Asker {
        /** The requested bytes, which may be touched until this returns. */
        void bytes(MemorySegment bytes);

        /** The read failed; a {@link io.clairfs.cache.source.SourceTimeoutException} says that the source has not answered in time. */
        void failed(Throwable reason);
    }

    /** Sets what tells whether a file was staged, though pages of it may be gone. */
    public void stagedBy(IntPredicate tells) {
        staged = tells;
    }

    /** How long a reader may wait, milliseconds. */
    public long timeoutMs() {
        return timeoutMs;
    }

    /**
     * Gives {@code asker} the {@code length} bytes of the file from {@code offset} on, or those up to its end. May keep the calling thread
     * for as long as the source takes, even after the asker was told.
     *
     * @param mostMs how long the asker waits at most, milliseconds
     */
    public void read(int file, long offset, int length, long mostMs, Asker asker) {
        long size = tree.fileSize(file);
        int there = (int) Math.min(length, Math.max(0, size - offset));
        if (there == 0) {
            asker.bytes(MemorySegment.NULL);
            return;
        }
        SampleBuffer here = router.fromTiersMemory(file);
        if (here != null) {
            counters.fromMemory.addPart(there, offset == 0);
        } else {
            here = inUse.get(file);
        }
        if (here != null) {
            give(here, offset, there, asker);
        } else if (isReadInPieces(file, offset + there, size)) {
            readLarge(file, offset, there, mostMs, asker);
        } else {
            readWhole(file, offset, there, mostMs, asker);
        }
    }

    private boolean isReadInPieces(int file, long upTo, long size) {
        boolean isTooLarge = size > inUse.readersBytes() / WHOLE_AT_ONCE;
        boolean isInParts = size >= LEAST_IN_PARTS_BYTES
                && (staged.test(file) || isLongAtSource(upTo) || isHeldNowhere(file, size));
        return (isTooLarge || isInParts) && !tree.isMade(file);
    }

    /** Whether the source would give the whole sample, and nothing would hold it for the next request without letting go of what other readers come for. */
    private boolean isHeldNowhere(int file, long size) {
        return !inUse.hasRoomForReaders(size)
                && !fetches.isUnderWay(file)
                && !router.isNear(file)
                && !fetches.isKept(file);
    }

    /** Whether a reader of the end of so many bytes might wait too long for those before it. */
    private boolean isLongAtSource(long bytes) {
        return isLong(fetches.sourceSeconds(bytes));
    }

    private boolean isLong(double seconds) {
        return seconds * TimeUnit.SECONDS.toMillis(1) > timeoutMs * WHOLE_IN_TIMEOUT;
    }

    private static void give(SampleBuffer from, long at, int length, Asker asker) {
        try {
            asker.bytes(from.bytes().asSlice(at, length));
        } finally {
            from.release();
        }
    }

    private static void giveOrFail(SampleBuffer from, long at, int length, Asker asker) {
        try {
            give(from, at, length, asker);
        } catch (Throwable t) { // no memory for a slice, say
            asker.failed(t);
        }
    }

    /** Reads from a flight that is under way, or begins one. */
    private void readWhole(int file, long offset, int length, long mostMs, Asker asker) {
        ReadWaits.Wait wait = begin(file, offset, length, mostMs, asker);
        if (fetches.join(file, offset + length, wait)) {
            fetches.waits(file, wait, slots::run);
        } else {
            fetch(wait, () -> fetches.fetchFor(file, offset + length, wait));
        }
    }

    /**
     * Reads a piece of a sample that is too large to be fetched for each reader of a part, or to be held, or of which only a part is missing. It comes from a flight that is under way,
     * if that is about to have it; else from a tier or a peer that holds the sample, as a whole, if it can be held for the requests that follow; else from the source; and if that fails,
     * from a tier or a peer after all. Where a place nearer than the source does not give the sample, those who wait for it read their pieces too.
     */
    private void readLarge(int file, long offset, int length, long mostMs, Asker asker) {
        ReadWaits.Wait wait = begin(file, offset, length, mostMs, asker);
        long upTo = offset + length;
        boolean isFarBehind = isFarBehind(file, upTo);
        CompletableFuture<SampleBuffer> given = fromNear(file, offset, length, wait);
        if (!isFarBehind && fetches.joinNear(file, upTo, given)) {
            return;
        }
        if (!isFarBehind && router.isNear(file) && inUse.hasRoomForReaders(tree.fileSize(file))) {
            double mostSeconds = timeoutMs * WHOLE_IN_TIMEOUT / TimeUnit.SECONDS.toMillis(1);
            fetch(wait, given, () -> fetches.fetchNear(file, upTo, mostSeconds, given));
        } else {
            fetch(wait, () -> readPiece(file, offset, length, wait));
        }
    }

    private boolean isFarBehind(int file, long upTo) {
        return fetches.secondsUntil(file, upTo) > LONGEST_JOINED_SECONDS
                || isLong(fetches.wholeSeconds(file, tree.fileSize(file)));
    }

    /** What a place nearer than the source gives {@code wait}. If that is nothing, the wait goes on for a flight that is at the source, or reads its piece there. */
    private CompletableFuture<SampleBuffer> fromNear(int file, long offset, int length, ReadWaits.Wait wait) {
        CompletableFuture<SampleBuffer> given = new CompletableFuture<>();
        var _ = given.whenComplete((sample, failure) -> {
            if (failure instanceof UnwantedException) {
                router.besides(() -> fromSource(file, offset, length, wait));
            } else if (sample == null) {
                wait.completeExceptionally(failure);
            } else if (!wait.complete(sample)) {
                sample.release();
            }
        });
        return given;
    }

    private void fromSource(int file, long offset, int length, ReadWaits.Wait wait) {
        long upTo = offset + length;
        SampleBuffer here = router.fromMemory(file);
        if (here != null) { // the flight was quick
            if (!wait.complete(here)) {
                here.release();
            }
        } else if (isFarBehind(file, upTo) || !fetches.isAtSource(file) || !fetches.join(file, upTo, wait)) {
            fetch(wait, () -> readPiece(file, offset, length, wait));
        }
    }

    /** Reads a piece from the source into a buffer of its own. */
    private void readPiece(int file, long offset, int length, ReadWaits.Wait wait) throws SourceException {
        SampleBuffer piece = SampleBuffer.allocate(length);
        try {
            source.read(tree.entry(file).file(), offset, piece.bytes());
        } catch (SourceException e) {
            piece.release();
            if (!router.isNear(file) || !fetches.mayBeWhole(file)) {
                throw e;
            }
            fetches.fetchFor(file, offset + length, wait);
            return;
        } catch (Throwable t) {
            piece.release();
            throw t;
        }
        counters.fromSource.addPart(length, offset == 0);
        wait.completeWithPiece(piece);
    }

    /** Begins a wait that tells the asker when it ends. */
    private ReadWaits.Wait begin(int file, long offset, int length, long mostMs, Asker asker) {
        ReadWaits.Wait wait = waits.begin(tree.entry(file).file(), mostMs);
        var _ = wait.whenComplete((sample, failure) -> {
            try {
                waits.end(wait);
                long waitedNs = wait.waitedNs();
                counters.stalledNs.add(waitedNs);
                counters.readWait.record(waitedNs);
            } finally { // nothing else would tell the asker
                if (sample == null) {
                    asker.failed(failure);
                } else {
                    giveOrFail(sample, wait.isPiece() ? 0 : offset, length, asker);
                }
            }
        });
        if (closed) {
            wait.completeExceptionally(ended());
        } else if (waits.count() > MOST_WAITING) {
            wait.giveUp();
        }
        return wait;
    }

    @FunctionalInterface
    private interface Fetch {
        void run() throws SourceException;
    }

    private void fetch(ReadWaits.Wait wait, Fetch fetch) {
        fetch(wait, wait, fetch);
    }

    /** Runs a fetch, unless its read no longer waits when its turn comes. {@code told} is told of a failure, if it knows nothing better. */
    private void fetch(ReadWaits.Wait wait, CompletableFuture<SampleBuffer> told, Fetch fetch) {
        slots.run(() -> {
            if (wait.isDone()) {
                return;
            }
            try {
                fetch.run();
            } catch (Throwable t) {
                told.completeExceptionally(t);
            }
        });
    }

    private static SourceFailedException ended() {
        return new SourceFailedException("the mount is being ended", Errno.EIO);
    }

    /** Fails all reads that wait; no read waits any more. */
    @Override
    public void close() {
        closed = true;
        slots.close();
        waits.close();
        waits.failAll(ended());
    }
}
