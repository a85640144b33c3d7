package io.clairfs.tools.node.seed;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.seed.FirstReads;
import io.clairfs.cache.seed.FoundOrder;
import io.clairfs.cache.seed.SearchExtent;
import io.clairfs.cache.seed.SeedSearch;
import io.clairfs.tools.node.job.Indexes;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Searches the first reads of a training over each directory that may be the root of its dataset. For one thread. */
final class RootSearch {
    private final DatasetTree tree;
    private final Indexes indexes;
    private volatile @Nullable SeedSearch last;

    RootSearch(DatasetTree tree, Indexes indexes) {
        this.tree = tree;
        this.indexes = indexes;
    }

    /** An order, and the root of the dataset that it is of, empty for the mount. */
    record Hit(FoundOrder order, String root) {
        /** The keys of a job of it, without name, epochs and the epoch where it begins. */
        String line() {
            return root.isEmpty() ? order.line() : order.line() + " subset=" + root;
        }
    }

    /** How many candidates the last search has tried; for any thread. */
    long candidates() {
        SeedSearch search = last;
        return search == null ? 0 : search.candidates();
    }

    /**
     * The order that the reads fit; null when there is none.
     *
     * @param fewest how many reads there must be below a root
     * @param goOn as for {@link SeedSearch#search}
     */
    @Nullable
    Hit search(Beginning reads, SearchExtent extent, int fewest, BooleanSupplier goOn) {
        for (String root : DatasetRoots.of(tree, reads.files())) {
            try {
                SampleIndex index = indexes.ofLately(root);
                FirstReads.Snapshot snapshot = reads.reads(index);
                if (snapshot.count() < fewest) {
                    continue;
                }
                SeedSearch search = new SeedSearch(index.size());
                last = search;
                Optional<FoundOrder> found = search.search(snapshot, extent, goOn);
                if (found.isPresent()) {
                    return new Hit(found.get(), root);
                }
            } catch (DatasetException | TimeoutException noIndex) {
                assert noIndex != null : "no trainer takes this directory for its root";
            }
        }
        return null;
    }
}
