package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.view.Transform;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lists directories in parallel: many directories at once, and one large directory in pieces.
 *
 * <p>A directory is listed once. The first request starts it, and its subdirectories follow by themselves. It is listed whole or not at
 * all: when the source fails for one of its names, all callers for the directory get the failure, the first failure gives a warning, and
 * the listing is retried after a pause ({@link ListingFailures}).
 */
final class TreeLister implements AutoCloseable {
    private static final Logger LOG = System.getLogger(TreeLister.class.getName());
    private static final int PIECE = 1024;
    private static final int PATH_MAX = 4096;
    private static final byte[] RESERVED = ".clairfs".getBytes(US_ASCII);
    private static final int PIECE_WITH_HEADERS = 32;

    /** How often a directory is read again at once because files vanish while it is listed. */
    private static final int MOST_VANISHED = 3;

    private final Source source;
    private final DatasetTree tree;
    private final SavedListings saved;
    private final Consumer<String> warnings;
    private final ForkJoinPool pool;
    private final AtomicInteger pending = new AtomicInteger();
    private final ListingFailures failures = new ListingFailures();

    TreeLister(Source source, DatasetTree tree, SavedListings saved, int parallelism, Consumer<String> warnings) {
        this.source = source;
        this.tree = tree;
        this.saved = saved;
        this.warnings = warnings;
        // First in, first out: a directory that a reader waits for does not queue behind those found later.
        pool = new ForkJoinPool(parallelism, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
    }

    /** Makes further calls to the source, as many at a time as listings. */
    Executor executor() {
        return pool;
    }

    /** Lists {@code directory} and all below it, in the background. */
    void begin(Directory directory) {
        var _ = list(directory);
    }

    /** The listing of {@code directory}, started if needed; it may fail with a {@link SourceException}. */
    CompletableFuture<Listing> list(Directory directory) {
        Directory.Claim claim = directory.claim();
        if (claim.start()) {
            pending.incrementAndGet();
            try {
                pool.execute(() -> makeListing(directory, claim.listing()));
            } catch (RejectedExecutionException closed) {
                claim.listing().completeExceptionally(new SourceFailedException("the mount is being ended", Errno.EIO));
            }
        }
        return claim.listing();
    }

    private void makeListing(Directory directory, CompletableFuture<Listing> promise) {
        Listing listing;
        try {
            listing = read(directory);
            tree.register(listing);
        } catch (SourceException e) {
            failed(directory, e, promise);
            return;
        } catch (Throwable e) { // such as too little memory: without an outcome the listing would never end
            LOG.log(Level.ERROR, "a bug in listing " + PythonText.show(directory.path()), e);
            failed(directory, new SourceFailedException("listing failed with " + e, Errno.EIO), promise);
            return;
        }
        promise.complete(listing);
        directory.settle(promise);
        if (failures.mended(directory)) {
            warnings.accept("listed after all: directory " + PythonText.show(directory.path()));
        }
        for (int at = 0; at < listing.count(); at++) {
            if (listing.kind(at) == Listing.Kind.DIRECTORY) {
                begin(listing.subdirectory(at));
            }
        }
        done();
    }

    /**
     * The directory could not be listed by the process before this one, and stays so: entries that were listed now would have other numbers in the process
     * after this one than the kernel knows.
     */
    void refused(Directory directory) {
        SourceException reason = new SourceFailedException(
                "it was not listed when this was mounted; unmount, and mount again", Errno.EACCES);
        long _ = failures.failed(directory, reason);
        directory.settle(CompletableFuture.failedFuture(reason));
    }

    /** Waiting callers get the failure now; later callers get that of the last try. */
    private void failed(Directory directory, SourceException reason, CompletableFuture<Listing> promise) {
        long pauseMs = failures.failed(directory, reason);
        if (failures.isFirst(directory)) { // said before a caller meets it
            warnings.accept(ListingFailures.line(directory, reason));
        }
        SourceException told = reason;
        if (failures.isGivenUp(directory)) {
            warnings.accept(ListingFailures.givenUpLine(directory, reason));
            told = ListingFailures.givenUp(directory, reason);
        }
        promise.completeExceptionally(told);
        directory.settle(promise);
        if (pauseMs < 0) {
            done();
            return;
        }
        try {
            var _ = pool.schedule(
                    () -> makeListing(directory, new CompletableFuture<>()), pauseMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closed) {
            assert closed != null : "nobody needs it any more";
        }
    }

    private void done() {
        if (pending.decrementAndGet() == 0) {
            tree.allListed();
        }
    }

    /** One line about the directories that could not be listed, or null. */
    @Nullable
    String failures() {
        return failures.describe();
    }

    private Listing read(Directory directory) throws SourceException {
        for (int vanished = 1; ; vanished++) {
            try {
                return readOnce(directory, vanished > MOST_VANISHED);
            } catch (SourceFailedException e) {
                if (e.errno() != Errno.ENOENT || vanished > MOST_VANISHED) {
                    throw e;
                }
            }
        }
    }

    /** {@code withoutVanished} leaves out names that are gone by now, where names vanish all the time. */
    private Listing readOnce(Directory directory, boolean withoutVanished) throws SourceException {
        FileStatus before = saved.needsStatus() ? source.status(directory.path()) : null;
        Listing known = saved.find(directory, before, tree);
        if (known != null) {
            return known;
        }
        long nowNs = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
        ShownSizes sizes = new ShownSizes(source, tree.view(), saved.outdated(directory), warnings);
        Listing fresh = readAnew(directory, sizes, withoutVanished);
        saved.listed(directory, !sizes.hasGaps(), before, nowNs);
        return fresh;
    }

    /** The names of a directory, in order, each once: some sources tell one that is renamed meanwhile twice. */
    private List<byte[]> names(Directory directory) throws SourceException {
        List<byte[]> names = new ArrayList<>();
        List<byte[]> told = new ArrayList<>(source.names(directory.path()));
        told.sort(PathOrder.BYTES);
        for (byte[] name : told) {
            boolean isNew = names.isEmpty() || !Arrays.equals(names.getLast(), name);
            if (isNew && !isReserved(directory, name) && !isTooLong(directory, name)) {
                names.add(name);
            }
        }
        return names;
    }

    /** The mount has its own entry of this name in its root. */
    private static boolean isReserved(Directory directory, byte[] name) {
        return directory.path().length == 0 && Arrays.equals(name, RESERVED);
    }

    private boolean isTooLong(Directory directory, byte[] name) {
        boolean tooLong = directory.path().length + 1 + name.length >= PATH_MAX;
        if (tooLong) {
            warnings.accept("left out: a path of " + PATH_MAX + " bytes and more in directory "
                    + PythonText.show(directory.path()));
        }
        return tooLong;
    }

    /** Leaves out names that are gone by now. One that is still told, and is not there, fails the directory: it may be there later. */
    private void requireGone(Directory directory, List<byte[]> vanished) throws SourceException {
        if (vanished.isEmpty()) {
            return;
        }
        List<byte[]> now = names(directory);
        for (byte[] name : vanished) {
            if (Collections.binarySearch(now, name, PathOrder.BYTES) >= 0) {
                byte[] path = Directory.join(directory.path(), name);
                throw new SourceFailedException(PythonText.show(path) + " is listed, but is not there", Errno.EIO);
            }
        }
    }

    private Listing readAnew(Directory directory, ShownSizes sizes, boolean withoutVanished) throws SourceException {
        List<byte[]> names = names(directory);
        List<byte[]> vanished = Collections.synchronizedList(new ArrayList<>());
        @Nullable Examined[] examined = new @Nullable Examined[names.size()];
        List<Piece> pieces = new ArrayList<>();
        AtomicReference<@Nullable SourceException> failure = new AtomicReference<>();
        for (int from = 0; from < names.size(); from += pieceNames()) {
            int to = Math.min(from + pieceNames(), names.size());
            pieces.add(
                    new Piece(directory, names, from, to, sizes, examined, failure, withoutVanished ? vanished : null));
        }
        ForkJoinTask.invokeAll(pieces);
        SourceException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        requireGone(directory, vanished);
        Listing.Builder builder = new Listing.Builder(directory, names.size());
        for (int i = 0; i < examined.length; i++) {
            Examined e = examined[i];
            if (e != null) {
                builder.add(names.get(i), e.kind, e.status, e.madeBytes, tree.attributesNumber(e.status), e.extra);
            }
        }
        return builder.build();
    }

    /** The names that one thread examines; fewer where a header is read of each file. */
    private int pieceNames() {
        return tree.view().isRaw() ? PIECE : PIECE_WITH_HEADERS;
    }

    private record Examined(
            Listing.Kind kind,
            FileStatus status,
            long madeBytes,
            @Nullable Object extra) {}

    /** Examines a run of names in one directory. */
    private final class Piece extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        private final transient Directory directory;
        private final transient List<byte[]> names;
        private final int from;
        private final int to;
        private final transient ShownSizes sizes;
        private final transient @Nullable Examined[] into;
        private final transient AtomicReference<@Nullable SourceException> failure;
        private final transient @Nullable List<byte[]> vanished;

        Piece(
                Directory directory,
                List<byte[]> names,
                int from,
                int to,
                ShownSizes sizes,
                @Nullable Examined[] into,
                AtomicReference<@Nullable SourceException> failure,
                @Nullable List<byte[]> vanished) {
            this.directory = directory;
            this.names = names;
            this.from = from;
            this.to = to;
            this.sizes = sizes;
            this.into = into;
            this.failure = failure;
            this.vanished = vanished;
        }

        @Override
        protected void compute() {
            for (int i = from; i < to && failure.get() == null; i++) {
                byte[] path = Directory.join(directory.path(), names.get(i));
                try {
                    into[i] = examine(path);
                } catch (SourceFailedException e) {
                    if (e.errno() == Errno.ENOENT && vanished != null) {
                        vanished.add(names.get(i));
                    } else {
                        failure.compareAndSet(null, e);
                    }
                } catch (SourceException e) {
                    failure.compareAndSet(null, e);
                }
            }
        }

        private @Nullable Examined examine(byte[] path) throws SourceException {
            FileStatus status = source.status(path);
            if (status.isRegular()) {
                return examineFile(path, status);
            } else if (status.isDirectory()) {
                return new Examined(Listing.Kind.DIRECTORY, status, Transform.AS_IT_IS, new Directory(directory, path));
            } else if (status.isSymlink()) {
                return new Examined(Listing.Kind.LINK, status, Transform.AS_IT_IS, source.linkTarget(path));
            }
            return null; // a device, socket or pipe is no training data
        }

        /** The status and the size belong to one version of the file, unless it changes all the time. */
        private Examined examineFile(byte[] path, FileStatus status) throws SourceException {
            FileStatus now = status;
            for (int changed = 1; ; changed++) {
                try {
                    return new Examined(Listing.Kind.FILE, now, sizes.madeBytes(path, now), null);
                } catch (SourceChangedException e) {
                    if (changed > MOST_VANISHED) {
                        return new Examined(Listing.Kind.FILE, now, sizes.unknown(now, e), null);
                    }
                    now = source.status(path);
                    if (!now.isRegular()) {
                        throw e; // its directory is listed again
                    }
                }
            }
        }
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
