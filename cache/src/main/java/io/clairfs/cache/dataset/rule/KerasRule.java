package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayList;
import java.util.List;

/**
 * Keras' {@code image_dataset_from_directory} before it shuffles: the root's directories that are not hidden, sorted; in each the walked
 * directories sorted by their whole path, and in those the names. Below a class, links to directories are followed only with
 * {@code follow_links}. Source: keras/src/utils/dataset_utils.py, {@code index_directory}.
 *
 * @param followLinks the function's {@code follow_links}
 */
record KerasRule(boolean followLinks) implements IndexRule {
    private static final NameEnds IMAGES = NameEnds.of(".bmp", ".gif", ".jpeg", ".jpg", ".png");

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        TreeWalk.Visit top = walk.visit(root.path(), root, 0);
        List<TreeWalk.Visit> classes = new ArrayList<>();
        for (int at = 0; at < top.listing().count(); at++) {
            TreeWalk.Visit visit = top.listing().name(at)[0] == '.' ? null : walk.enter(top, at);
            if (visit != null) {
                classes.add(visit);
            }
        }
        classes.sort(ImageFolderRule.byPath());
        SampleIndex.Builder index = new SampleIndex.Builder();
        for (TreeWalk.Visit clazz : classes) {
            List<TreeWalk.Visit> visits = followLinks ? walk.allBelow(clazz) : walk.allBelowWithoutLinks(clazz);
            visits.sort(ImageFolderRule.byPath());
            for (TreeWalk.Visit visit : visits) {
                ImageFolderRule.addFiles(walk, visit, IMAGES, index);
            }
        }
        if (index.count() == 0) {
            throw new DatasetException("no images in " + ImageFolderRule.name(root)
                    + ": keras expects a directory per class with .bmp, .gif, .jpeg, .jpg or .png files");
        }
        return index.build(tree);
    }
}
