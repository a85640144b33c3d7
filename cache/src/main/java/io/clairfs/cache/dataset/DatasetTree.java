package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.view.View;
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
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The directories and files of the source. They are listed once, in parallel, and are usable meanwhile.
 *
 * <p>{@link #list} lists a directory at once if it is not listed yet, so the tree can be walked from the start; {@link #complete} tells
 * when all directories are listed. A directory that cannot be listed fails for all callers, rules and readers. Entries are numbered as
 * their directories arrive: numbers are stable while the tree lives and mean nothing beyond it. The index rules ({@code rule}) define the
 * order of a dataset.
 */
public final class DatasetTree implements AutoCloseable {
    private final TreeLister lister;
    private final LinkTargets linkTargets;
    private final SharedWaits waits;
    private final View view;
    private final Directory root = new Directory(null, new byte[0]);
    private final FileStatus rootStatus;
    private final CompletableFuture<DatasetTree> complete = new CompletableFuture<>();
    private final Object numbering = new Object();
    private final ListingTable listings = new ListingTable(16);
    /** Written under the lock, after the entries that it counts. */
    private volatile int entryCount;

    private long fileCount;
    private long fileBytes;
    /** By number. Copied to add one: there are few, and every name look-up reads the array. */
    private volatile Attributes[] attributes = {};

    private final Map<Attributes, Integer> attributeNumbers = new HashMap<>();

    /**
     * Starts listing {@code source}.
     *
     * @param parallelism most concurrent calls to the source
     * @param warnings takes a line when a directory cannot be listed, and when it is listed after all
     * @throws SourceException when the root itself cannot be examined
     */
    public DatasetTree(Source source, int parallelism, Consumer<String> warnings) throws SourceException {
        this(source, SavedListings.none(), parallelism, warnings);
    }

    /** The same, but takes valid listings from {@code saved} instead of the source. */
    public DatasetTree(Source source, SavedListings saved, int parallelism, Consumer<String> warnings)
            throws SourceException {
        this(source, View.raw(), saved, parallelism, warnings);
    }

    /** The same for what a mount shows of the files in {@code view}; {@code saved} is of that view. */
    public DatasetTree(Source source, View view, SavedListings saved, int parallelism, Consumer<String> warnings)
            throws SourceException {
        this(source, view, saved, parallelism, warnings, System::nanoTime);
    }

    /** The same with another clock, as {@link System#nanoTime}. */
    DatasetTree(
            Source source,
            View view,
            SavedListings saved,
            int parallelism,
            Consumer<String> warnings,
            LongSupplier clockNs)
            throws SourceException {
        this.view = view;
        waits = new SharedWaits(clockNs);
        rootStatus = source.status(root.path());
        lister = new TreeLister(source, this, saved, parallelism, warnings);
        linkTargets = new LinkTargets(source, lister.executor());
        lister.begin(root);
    }

    /**
     * The tree of {@code known}, completely listed, without a call to {@code source}. A directory that is not in it is listed when it is needed.
     *
     * @param parallelism as in the constructor
     * @param warnings as in the constructor
     */
    public static DatasetTree restored(
            NumberedListings known, Source source, int parallelism, Consumer<String> warnings) {
        return new DatasetTree(known, source, parallelism, warnings);
    }

    private DatasetTree(NumberedListings known, Source source, int parallelism, Consumer<String> warnings) {
        view = known.view();
        waits = new SharedWaits(System::nanoTime);
        rootStatus = known.root();
        lister = new TreeLister(source, this, SavedListings.none(), parallelism, warnings);
        linkTargets = new LinkTargets(source, lister.executor());
        known.restore(this).forEach(lister::refused);
        allListed();
    }

    public Directory root() {
        return root;
    }

    /** What is shown of the files. */
    public View view() {
        return view;
    }

    public FileStatus rootStatus() {
        return rootStatus;
    }

    /**
     * Completes with this tree when every directory is listed, except those that failed for good. A directory with a transient failure
     * keeps the tree incomplete: its entries must not be taken for absent.
     */
    public CompletableFuture<DatasetTree> complete() {
        return complete;
    }

    /**
     * The listing of {@code directory}, made now if absent. Waits {@code timeoutMs} at most, and not at all right after another caller
     * waited that long in vain. Fails while the source fails to list it.
     */
    public Listing list(Directory directory, long timeoutMs) throws SourceException {
        CompletableFuture<Listing> listing = lister.list(directory);
        if (listing.state() == Future.State.SUCCESS) {
            return listing.resultNow();
        }
        if (!listing.isDone() && waits.isShared(directory, timeoutMs)) {
            throw new SourceTimeoutException("listing /" + shown(directory) + ", asked for again", timeoutMs);
        }
        try {
            return listing.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            waits.timedOut(directory, timeoutMs);
            throw new SourceTimeoutException("listing /" + shown(directory), timeoutMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SourceTimeoutException("listing /" + shown(directory), 0);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SourceException failure) {
                throw failure;
            }
            throw new AssertionError("listings fail with the source's errors only", e);
        }
    }

    private static String shown(Directory directory) {
        return PythonText.show(directory.path());
    }

    /**
     * What a link leads to that leads out of the tree, as the source's machine follows it. Waits {@code timeoutMs} at most, and not at all for
     * a look that another caller has waited for in vain.
     */
    public LinkTarget targetOutside(Entry link, long timeoutMs) throws SourceException {
        return linkTargets.of(link, timeoutMs);
    }

    /** One line about the directories that the source still fails to list; null when there are none. */
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
        Listing listing = listings.of(number);
        return new Entry(listing, number - listing.base());
    }

    /** Whether what is shown of this file is made of what the source has, as {@link Listing#isMade}. */
    public boolean isMade(int number) {
        Listing listing = listings.of(number);
        return listing.isMade(number - listing.base());
    }

    /** Bytes, as they are shown, of the regular file with this number; 0 when the entry is something else. */
    public long fileSize(int number) {
        Listing listing = listings.of(number);
        int at = number - listing.base();
        return listing.kind(at) == Listing.Kind.FILE ? listing.size(at) : 0;
    }

    /** Bytes of the regular file with this number as tiers and peers hold it, as {@link View#kept}; 0 when the entry is something else. */
    public long keptSize(int number) {
        Listing listing = listings.of(number);
        int at = number - listing.base();
        return listing.kind(at) == Listing.Kind.FILE
                ? view.keepsSource() ? listing.sourceSize(at) : listing.size(at)
                : 0;
    }

    /** Mode, owner and group of an entry. */
    public Attributes attributes(Entry entry) {
        return attributes[entry.listing().attributes(entry.at())];
    }

    /** How many entries have been listed so far. */
    public int entryCount() {
        return entryCount;
    }

    /** How many regular files have been listed so far. */
    public long fileCount() {
        synchronized (numbering) {
            return fileCount;
        }
    }

    /** Bytes, as they are shown, of all regular files listed so far. */
    public long fileBytes() {
        synchronized (numbering) {
            return fileBytes;
        }
    }

    /** The modes, owners and groups by their numbers. */
    List<Attributes> attributesTable() {
        return List.of(attributes);
    }

    int attributesNumber(FileStatus status) {
        return attributesNumber(new Attributes(status.mode(), status.uid(), status.gid()));
    }

    int attributesNumber(Attributes wanted) {
        synchronized (attributeNumbers) {
            return attributeNumbers.computeIfAbsent(wanted, fresh -> {
                Attributes[] all = attributes;
                Attributes[] more = Arrays.copyOf(all, all.length + 1);
                more[all.length] = fresh;
                attributes = more;
                return all.length;
            });
        }
    }

    /** Numbers the entries of a new listing. */
    void register(Listing listing) {
        synchronized (numbering) {
            int entries = Math.addExact(entryCount, listing.count());
            listing.number(entryCount);
            if (listing.count() > 0) {
                listings.add(listing);
            }
            entryCount = entries;
            for (int at = 0; at < listing.count(); at++) {
                if (listing.kind(at) == Listing.Kind.FILE) {
                    fileCount++;
                    fileBytes += listing.size(at);
                }
            }
        }
    }

    void allListed() {
        synchronized (numbering) {
            listings.allAdded(entryCount);
        }
        complete.complete(this);
    }

    @Override
    public void close() {
        lister.close();
    }
}
