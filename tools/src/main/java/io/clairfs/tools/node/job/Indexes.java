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
    private static final long REFUSAL_LASTS_NS = TimeUnit.SECONDS.toNanos(10);

    private final DatasetTree tree;
    private final IndexRule rule;
    private final ConsumptionWatcher watcher;
    private final ErrorLog errors;
    private final long patienceMs;
    private final Map<String, Built> built = new LinkedHashMap<>();

    /** What the rule made of a subset: an index, or the reason why it has none. */
    private record Built(
            @Nullable SampleIndex index, @Nullable DatasetException refusal, long atNs) {
        boolean isOutdated(long refusalLastsNs) {
            return index == null && System.nanoTime() - atNs >= refusalLastsNs;
        }

        SampleIndex get() throws DatasetException {
            if (index == null) {
                throw new DatasetException(refusal == null ? "no index" : String.valueOf(refusal.getMessage()));
            }
            return index;
        }
    }

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
        return of(subset, 0);
    }

    /** As {@link #of(String)}, for who asks again and again: a rule that has just refused a subset is not asked anew, for each time it walks through all names. */
    public SampleIndex ofLately(String subset) throws DatasetException, TimeoutException {
        return of(subset, REFUSAL_LASTS_NS);
    }

    private SampleIndex of(String subset, long refusalLastsNs) throws DatasetException, TimeoutException {
        if (!isListed()) {
            String failures = failures();
            if (failures != null) {
                throw incomplete(failures);
            }
            throw new TimeoutException("the dataset is still being listed");
        }
        synchronized (built) {
            Built known = built.get(subset);
            if (known == null || known.isOutdated(refusalLastsNs)) {
                known = build(subset);
                built.put(subset, known);
                if (built.size() > MOST_SUBSETS) {
                    built.keySet().stream()
                            .filter(other -> !other.isEmpty())
                            .findFirst()
                            .ifPresent(built::remove);
                }
            }
            return known.get();
        }
    }

    private Built build(String subset) {
        try {
            return new Built(rule.index(tree, directory(subset)), null, 0);
        } catch (DatasetException e) {
            return new Built(null, e, System.nanoTime());
        } catch (SourceException e) { // a rule reads listings only
            return new Built(null, incomplete("cannot list " + e.getMessage()), System.nanoTime());
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
