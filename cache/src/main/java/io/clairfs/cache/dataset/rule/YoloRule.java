package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.PathOrder;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * ultralytics' datasets from a directory, a sorted recursive glob: images that are not hidden in directories that are not hidden, links
 * followed, by their whole path. For a list in a file use {@code manifest} with the list sorted. Images that ultralytics drops as corrupt
 * still count here. Source: ultralytics/data/base.py, utils.py.
 */
final class YoloRule implements IndexRule {
    private static final NameEnds IMAGES =
            NameEnds.of(".bmp", ".dng", ".jpeg", ".jpg", ".mpo", ".png", ".tif", ".tiff", ".webp", ".pfm", ".heic");

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        FoundFiles found = new FoundFiles(walk);
        Deque<TreeWalk.Visit> waiting = new ArrayDeque<>();
        waiting.add(walk.visit(root.path(), root, 0));
        while (!waiting.isEmpty()) {
            TreeWalk.Visit visit = waiting.remove();
            found.add(
                    visit,
                    (v, at) -> isVisible(v, at) && IMAGES.matches(v.listing().name(at)));
            for (int at = 0; at < visit.listing().count(); at++) {
                TreeWalk.Visit below = isVisible(visit, at) ? walk.enterAll(visit, at) : null;
                if (below != null) {
                    waiting.add(below);
                }
            }
        }
        if (found.isEmpty()) {
            throw new DatasetException("no images in " + ImageFolderRule.name(root)
                    + ": give the directory of the images as the job's subset");
        }
        return found.sorted(PathOrder.CODE_POINTS, tree);
    }

    private static boolean isVisible(TreeWalk.Visit visit, int at) {
        return visit.listing().name(at)[0] != '.';
    }
}
