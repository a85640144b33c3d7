package io.clairfs.tools.node.job;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The sample indexes of this mount: one for the whole dataset, one for each subset that a job reads. */
public final class Indexes {
    private static final long LISTED_ALREADY_MS = 1_000;
    private static final int MOST_SUBSETS = 64;

    private final DatasetTree tree;
    private final IndexRule rule;
    private final ConsumptionWatcher watcher;
    private final ErrorLog errors;
    private final long patienceMs;
    private final Map<String, SampleIndex> built = new LinkedHashMap<>();

    /** {@code patienceMs} bounds the wait of {@link #awaitListing}. */
    public Indexes(DatasetTree tree, IndexRule rule, ConsumptionWatcher watcher, ErrorLog errors, long patienceMs) {
        this.patienceMs = patienceMs;
        this.tree = tree;
        this.rule = rule;
        this.watcher = watcher;
        this.errors = errors;
    }

    /** Waits a moment for the dataset to be listed, unless its listing is known to fail. */
    public void awaitListing() {
        try {
            if (failures() == null) {
                DatasetTree _ = tree.complete().get(patienceMs, TimeUnit.MILLISECONDS);
            }
        } catch (TimeoutException e) {
            assert e != null : "who needs the listing is told that it is not there";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new AssertionError("listing completes normally", e);
        }
    }

    /**
     * The index of one directory of the dataset; the empty path is the whole dataset. Does not wait for the listing.
     *
     * @throws TimeoutException when the dataset is still being listed
     * @throws DatasetException when the rule refuses it, or the source could not list all of it
     */
    public SampleIndex of(String subset) throws DatasetException, TimeoutException {
        if (!isListed()) {
            String failures = failures();
            if (failures != null) {
                throw incomplete(failures);
            }
            throw new TimeoutException("the dataset is still being listed");
        }
        synchronized (built) {
            SampleIndex index = built.get(subset);
            if (index == null) {
                index = build(subset);
                built.put(subset, index);
                if (built.size() > MOST_SUBSETS) {
                    built.remove(built.keySet().iterator().next());
                }
            }
            return index;
        }
    }

    private SampleIndex build(String subset) throws DatasetException {
        try {
            return rule.index(tree, directory(subset));
        } catch (SourceException e) { // a rule reads listings only
            throw incomplete("cannot list " + e.getMessage());
        }
    }

    /** The error for an incomplete listing: an epoch over a part of a dataset would be silently wrong. */
    private static DatasetException incomplete(String reason) {
        return new DatasetException("the dataset could not be listed in full: " + reason);
    }

    /** The reason why the dataset cannot be listed; null if none is known, or if it is listed. */
    @Nullable
    public String failures() {
        return isListed() ? null : tree.failures();
    }

    /** The mean size of the dataset's files, bytes. */
    long meanFileBytes() {
        return tree.fileBytes() / Math.max(1, tree.fileCount());
    }

    /** Whether the dataset is listed. */
    public boolean isListed() {
        return tree.complete().isDone();
    }

    /** Starts the reports of reads of the samples. Returns whether that worked for all of them. */
    public boolean watch(SampleIndex index) {
        return watcher.watch(index.directoriesOfFiles(tree), errors::add) == 0;
    }

    /** Several trainings may read the same samples, each of which has to be followed; else the watch can be cheaper. */
    void tellReadersApart(boolean apart) {
        watcher.tellReadersApart(apart);
    }

    /** The number of directories of samples that cannot be watched. */
    public int unwatched() {
        return watcher.unwatched();
    }

    private Directory directory(String subset) throws DatasetException, SourceException {
        if (subset.isEmpty()) {
            return tree.root();
        }
        Entry entry = tree.find(subset.getBytes(UTF_8), LISTED_ALREADY_MS);
        if (entry == null || entry.kind() != Listing.Kind.DIRECTORY) {
            throw new DatasetException("subset=" + subset + " is not a directory of the dataset");
        }
        return entry.listing().subdirectory(entry.at());
    }
}
