package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The source's directories and files, listed once, in parallel, while they are already in use.
 *
 * <p>{@link #list} lists a directory at once if nobody has yet, so the tree can be walked from the first moment;
 * {@link #complete} tells when all of it is there. A directory that cannot be listed fails for everybody who asks for it, rules
 * and readers. Entries are numbered as their directories arrive: numbers are stable while the tree lives and mean nothing beyond it. The order of a dataset is the business of {@link IndexRule}.
 */
public final class DatasetTree implements AutoCloseable {
    private static final int BLOCK_BITS = 8;

    private final TreeLister lister;
    private final Directory root = new Directory(null, new byte[0]);
    private final FileStatus rootStatus;
    private final CompletableFuture<DatasetTree> complete = new CompletableFuture<>();
    private final Object numbering = new Object();
    private volatile Listing[] listings = {};
    private volatile int listingCount;
    private volatile int[] blockStarts = {};
    private int entryCount;
    private long fileCount;
    private long fileBytes;
    private final List<Attributes> attributes = new ArrayList<>();
    private final Map<Attributes, Integer> attributeNumbers = new HashMap<>();

    /**
     * Begins to list {@code source}.
     *
     * @param parallelism how many calls the source may be given at once
     * @param warnings takes a line for everything that cannot be shown or listed
     * @throws SourceException when the root itself cannot be examined
     */
    public DatasetTree(Source source, int parallelism, Consumer<String> warnings) throws SourceException {
        rootStatus = source.status(root.path());
        lister = new TreeLister(source, this, parallelism, warnings);
        lister.begin(root);
    }

    public Directory root() {
        return root;
    }

    public FileStatus rootStatus() {
        return rootStatus;
    }

    /**
     * Completes, with this tree, when every directory is listed, but for those that the source refuses for good. While one fails in a way
     * that may pass, the tree is not complete: what belongs to it must not be taken for absent.
     */
    public CompletableFuture<DatasetTree> complete() {
        return complete;
    }

    /**
     * The listing of {@code directory}, made now if it is not there yet; waits {@code timeoutMs} at most. Fails while the source
     * fails to list it.
     */
    public Listing list(Directory directory, long timeoutMs) throws SourceException {
        CompletableFuture<Listing> listing = lister.list(directory);
        if (listing.state() == Future.State.SUCCESS) {
            return listing.resultNow();
        }
        try {
            return listing.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new SourceTimeoutException("listing /" + PythonText.show(directory.path()), timeoutMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SourceTimeoutException("listing /" + PythonText.show(directory.path()), 0);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SourceException failure) {
                throw failure;
            }
            throw new AssertionError("listings fail with the source's errors only", e);
        }
    }

    /** One line about directories that the source has failed to list until now, and fails still; null when there are none. */
    public @Nullable String failures() {
        return lister.failures();
    }

    /**
     * The entry at {@code path}, links not followed; null when there is none.
     *
     * @param path from the root, with or without slashes at the ends, not empty
     */
    public @Nullable Entry find(byte[] path, long timeoutMs) throws SourceException {
        Directory directory = root;
        int from = 0;
        while (true) {
            while (from < path.length && path[from] == '/') {
                from++;
            }
            int to = from;
            while (to < path.length && path[to] != '/') {
                to++;
            }
            Listing listing = list(directory, timeoutMs);
            int at = listing.find(path, from, to);
            if (at < 0) {
                return null;
            }
            if (to == path.length) {
                return new Entry(listing, at);
            }
            if (listing.kind(at) != Listing.Kind.DIRECTORY) {
                return null;
            }
            directory = listing.subdirectory(at);
            from = to;
        }
    }

    /** The entry with this number. */
    public Entry entry(int number) {
        Listing listing = listing(number);
        return new Entry(listing, number - listing.base());
    }

    /** Bytes of the regular file with this number; 0 when the entry is something else. */
    public long fileSize(int number) {
        Listing listing = listing(number);
        int at = number - listing.base();
        return listing.kind(at) == Listing.Kind.FILE ? listing.size(at) : 0;
    }

    private Listing listing(int number) {
        Listing[] all = listings;
        int low = 0;
        int high = listingCount - 1;
        int[] starts = blockStarts;
        int block = number >>> BLOCK_BITS;
        if (block < starts.length) { // all is listed: the listing is among those that begin in this block, or the one
            // before
            low = starts[block];
            high = block + 1 < starts.length ? starts[block + 1] : high;
        }
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (all[middle].base() <= number) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return all[low];
    }

    /** For each block of numbers the listing that has its first one: entries are looked up all the time. */
    private int[] blockStarts() {
        synchronized (numbering) {
            int[] starts = new int[(entryCount >>> BLOCK_BITS) + 1];
            int listing = 0;
            for (int block = 0; block < starts.length; block++) {
                while (listing + 1 < listingCount && listings[listing + 1].base() <= block << BLOCK_BITS) {
                    listing++;
                }
                starts[block] = listing;
            }
            return starts;
        }
    }

    /** Mode, owner and group of an entry. */
    public Attributes attributes(Entry entry) {
        synchronized (attributes) {
            return attributes.get(entry.listing().attributes(entry.at()));
        }
    }

    /** How many entries have been listed so far. */
    public int entryCount() {
        synchronized (numbering) {
            return entryCount;
        }
    }

    /** How many regular files have been listed so far. */
    public long fileCount() {
        synchronized (numbering) {
            return fileCount;
        }
    }

    /** Bytes of all regular files listed so far. */
    public long fileBytes() {
        synchronized (numbering) {
            return fileBytes;
        }
    }

    int attributesNumber(FileStatus status) {
        Attributes wanted = new Attributes(status.mode(), status.uid(), status.gid());
        synchronized (attributes) {
            return attributeNumbers.computeIfAbsent(wanted, fresh -> {
                attributes.add(fresh);
                return attributes.size() - 1;
            });
        }
    }

    /** Gives the entries of a new listing their numbers. */
    void register(Listing listing) {
        synchronized (numbering) {
            listing.number(entryCount);
            entryCount = Math.addExact(entryCount, listing.count());
            for (int at = 0; at < listing.count(); at++) {
                if (listing.kind(at) == Listing.Kind.FILE) {
                    fileCount++;
                    fileBytes += listing.size(at);
                }
            }
            if (listing.count() > 0) {
                if (listingCount == listings.length) {
                    listings = Arrays.copyOf(listings, Math.max(16, listingCount * 2));
                }
                listings[listingCount] = listing;
                listingCount++; // after the array: readers look at the count first
            }
        }
    }

    void allListed() {
        blockStarts = blockStarts();
        complete.complete(this);
    }

    @Override
    public void close() {
        lister.close();
    }
}
