package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.PathOrder;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;

/** Every file below the root, hidden ones too, by its whole relative path in Python's order of strings: {@code sorted(paths)}. */
final class SortedRule implements IndexRule {
    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        FoundFiles found = new FoundFiles(walk);
        for (TreeWalk.Visit visit : walk.allBelow(walk.visit(root.path(), root, 0))) {
            found.add(visit, (_, _) -> true);
        }
        if (found.isEmpty()) {
            throw new DatasetException("no files in the source: nothing to read");
        }
        return found.sorted(PathOrder.CODE_POINTS, tree);
    }
}
