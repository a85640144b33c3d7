package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Files that a walk found, numbered in the order of their whole paths. */
final class FoundFiles {
    private record Found(byte[] path, int directory, int at, int file) {}

    private final TreeWalk walk;
    private final SampleIndex.Builder index = new SampleIndex.Builder();
    private final List<Found> found = new ArrayList<>();

    FoundFiles(TreeWalk walk) {
        this.walk = walk;
    }

    /** Whether a framework takes an entry that is no directory. */
    @FunctionalInterface
    interface Filter {
        boolean takes(TreeWalk.Visit visit, int at) throws DatasetException, SourceException;
    }

    /** Adds the files of one directory that {@code filter} takes, in the order of their bytes. */
    void add(TreeWalk.Visit visit, Filter filter) throws DatasetException, SourceException {
        Listing listing = visit.listing();
        int directory = index.directory(visit.path(), listing);
        for (int at = 0; at < listing.count(); at++) {
            if (filter.takes(visit, at) && walk.isFileName(visit, at)) {
                byte[] path = Directory.join(visit.path(), listing.name(at));
                found.add(new Found(path, directory, at, walk.file(visit, at)));
            }
        }
    }

    boolean isEmpty() {
        return found.isEmpty();
    }

    /** Numbers the files by {@code order} of their paths; equal paths keep the order in which they were added. */
    SampleIndex sorted(Comparator<byte[]> order, DatasetTree tree) {
        found.sort((a, b) -> order.compare(a.path, b.path));
        found.forEach(f -> index.add(f.directory, f.at, f.file));
        return index.build(tree);
    }
}
