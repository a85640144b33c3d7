package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;

/**
 * timm's {@code ReaderImageFolder}: images anywhere below the root and at the root itself, links followed, in natural order of their whole
 * paths. Paths that compare equal keep the order in which the walk, from the leaves up, meets them in directory listings sorted by bytes,
 * as the mount lists them. Source: timm/data/readers/reader_image_folder.py.
 */
final class TimmRule implements IndexRule {
    private static final NameEnds IMAGES = NameEnds.of(".png", ".jpg", ".jpeg");

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        FoundFiles found = new FoundFiles(walk);
        for (TreeWalk.Visit visit : walk.leavesFirst(walk.visit(root.path(), root, 0))) {
            found.add(visit, (v, at) -> IMAGES.isExtension(v.listing().name(at)));
        }
        if (found.isEmpty()) {
            throw new DatasetException("no images in " + ImageFolderRule.name(root)
                    + ": timm takes .png, .jpg and .jpeg; for other files use --index-rule sorted");
        }
        return found.sorted(NaturalOrder.PATHS, tree);
    }
}
