package io.clairfs.cache.dataset;

import io.clairfs.cache.source.SourceException;
import java.util.ArrayList;
import java.util.List;

/** Every file below the root, hidden ones too, by its whole relative path in Python's order of strings: {@code sorted(paths)}. */
final class SortedRule implements IndexRule {
    private record Found(byte[] path, int directory, int at, int file) {}

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        SampleIndex.Builder index = new SampleIndex.Builder();
        List<Found> found = new ArrayList<>();
        for (TreeWalk.Visit visit : walk.allBelow(walk.visit(root.path(), root, 0))) {
            Listing listing = visit.listing();
            int directory = index.directory(visit.path(), listing);
            for (int at = 0; at < listing.count(); at++) {
                if (walk.isFileName(visit, at)) {
                    byte[] path = Directory.join(visit.path(), listing.name(at));
                    found.add(new Found(path, directory, at, walk.file(visit, at)));
                }
            }
        }
        if (found.isEmpty()) {
            throw new DatasetException("no files in the source: nothing to read");
        }
        found.sort((a, b) -> PathOrder.CODE_POINTS.compare(a.path, b.path));
        found.forEach(f -> index.add(f.directory, f.at, f.file));
        return index.build(tree);
    }
}
