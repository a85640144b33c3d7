package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lists directories in parallel: many directories at once, and one large directory in pieces.
 *
 * <p>A directory is listed once; whoever asks first starts it, and its subdirectories follow by themselves. A directory that
 * the source refuses becomes an empty listing with its failure remembered, and a warning.
 */
final class TreeLister implements AutoCloseable {
    private static final int PIECE = 1024;

    private final Source source;
    private final DatasetTree tree;
    private final Consumer<String> warnings;
    private final ForkJoinPool pool;
    private final AtomicInteger pending = new AtomicInteger();

    TreeLister(Source source, DatasetTree tree, int parallelism, Consumer<String> warnings) {
        this.source = source;
        this.tree = tree;
        this.warnings = warnings;
        // First in, first out: a directory that a reader waits for is not buried under those found later.
        pool = new ForkJoinPool(parallelism, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
    }

    /** Lists {@code directory} and all below it, in the background. */
    void begin(Directory directory) {
        var _ = list(directory);
    }

    /** The listing of {@code directory}, begun if need be; it always completes normally. */
    CompletableFuture<Listing> list(Directory directory) {
        Directory.Claim claim = directory.claim();
        if (claim.start()) {
            pending.incrementAndGet();
            pool.execute(() -> makeListing(directory, claim.listing()));
        }
        return claim.listing();
    }

    private void makeListing(Directory directory, CompletableFuture<Listing> promise) {
        Listing listing;
        try {
            listing = read(directory);
        } catch (SourceException e) {
            directory.fail(e);
            warnings.accept("cannot list directory " + e.getMessage());
            listing = new Listing.Builder(directory, 0).build();
        } catch (RuntimeException | Error e) {
            promise.completeExceptionally(e);
            throw e;
        }
        tree.register(listing);
        promise.complete(listing);
        for (int at = 0; at < listing.count(); at++) {
            if (listing.kind(at) == Listing.Kind.DIRECTORY) {
                begin(listing.subdirectory(at));
            }
        }
        if (pending.decrementAndGet() == 0) {
            tree.allListed();
        }
    }

    private Listing read(Directory directory) throws SourceException {
        List<byte[]> names = new ArrayList<>(source.names(directory.path()));
        names.sort(PathOrder.BYTES);
        @Nullable Examined[] examined = new @Nullable Examined[names.size()];
        List<Piece> pieces = new ArrayList<>();
        for (int from = 0; from < names.size(); from += PIECE) {
            pieces.add(new Piece(directory, names, from, Math.min(from + PIECE, names.size()), examined));
        }
        ForkJoinTask.invokeAll(pieces);
        Listing.Builder builder = new Listing.Builder(directory, names.size());
        for (int i = 0; i < examined.length; i++) {
            Examined e = examined[i];
            if (e != null) {
                builder.add(names.get(i), e.kind, e.status, tree.attributesNumber(e.status), e.extra);
            }
        }
        return builder.build();
    }

    private record Examined(
            Listing.Kind kind, FileStatus status, @Nullable Object extra) {}

    /** Examines a run of names in one directory. */
    private final class Piece extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        private final transient Directory directory;
        private final transient List<byte[]> names;
        private final int from;
        private final int to;
        private final transient @Nullable Examined[] into;

        Piece(Directory directory, List<byte[]> names, int from, int to, @Nullable Examined[] into) {
            this.directory = directory;
            this.names = names;
            this.from = from;
            this.to = to;
            this.into = into;
        }

        @Override
        protected void compute() {
            for (int i = from; i < to; i++) {
                byte[] path = Directory.join(directory.path(), names.get(i));
                try {
                    into[i] = examine(path);
                } catch (SourceException e) {
                    warnings.accept("left out: " + e.getMessage());
                }
            }
        }

        private @Nullable Examined examine(byte[] path) throws SourceException {
            FileStatus status = source.status(path);
            if (status.isRegular()) {
                return new Examined(Listing.Kind.FILE, status, null);
            } else if (status.isDirectory()) {
                return new Examined(Listing.Kind.DIRECTORY, status, new Directory(directory, path));
            } else if (status.isSymlink()) {
                return new Examined(Listing.Kind.LINK, status, source.linkTarget(path));
            }
            return null; // a device, socket or pipe is no training data
        }
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
