package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.PathOrder;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * torchvision's {@code ImageFolder}.
 *
 * <p>Classes are the root's directories, links and hidden ones too, sorted by name. In each class the walked directories are sorted by
 * their whole path as one string, and the names in each directory. Names with an image extension are kept. A broken link counts when its
 * name does. Source: torchvision 0.14 {@code datasets/folder.py}, {@code make_dataset}.
 */
final class ImageFolderRule implements IndexRule {
    private static final NameEnds IMAGES =
            NameEnds.of(".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp");

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        TreeWalk.Visit top = walk.visit(root.path(), root, 0);
        List<TreeWalk.Visit> classes = new ArrayList<>();
        for (int at = 0; at < top.listing().count(); at++) {
            TreeWalk.Visit visit = walk.enter(top, at);
            if (visit != null) {
                classes.add(visit);
            }
        }
        if (classes.isEmpty()) {
            throw new DatasetException("no class directories in " + name(root)
                    + ": imagefolder expects one directory per class; for another layout use --index-rule sorted");
        }
        classes.sort(byPath());
        SampleIndex.Builder index = new SampleIndex.Builder();
        for (TreeWalk.Visit clazz : classes) {
            int before = index.count();
            List<TreeWalk.Visit> visits = walk.allBelow(clazz);
            visits.sort(byPath());
            for (TreeWalk.Visit visit : visits) {
                addFiles(walk, visit, IMAGES, index);
            }
            if (index.count() == before) {
                throw new DatasetException("class directory " + PythonText.show(clazz.path())
                        + " has no images: imagefolder refuses an empty class; remove it, or use --index-rule sorted");
            }
        }
        return index.build(tree);
    }

    /** Adds the files of one directory that end with one of {@code ends}, sorted by name. */
    static void addFiles(TreeWalk walk, TreeWalk.Visit visit, NameEnds ends, SampleIndex.Builder index)
            throws DatasetException, SourceException {
        Listing listing = visit.listing();
        int directory = index.directory(visit.path(), listing);
        for (int at : namesInOrder(listing)) {
            if (ends.matches(listing.name(at)) && walk.isFileName(visit, at)) {
                index.add(directory, at, walk.file(visit, at));
            }
        }
    }

    /** The entries of a listing in Python's order of their names. */
    static int[] namesInOrder(Listing listing) {
        return java.util.stream.IntStream.range(0, listing.count())
                .boxed()
                .sorted((a, b) -> PathOrder.CODE_POINTS.compare(listing.name(a), listing.name(b)))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    static Comparator<TreeWalk.Visit> byPath() {
        return (a, b) -> PathOrder.CODE_POINTS.compare(a.path(), b.path());
    }

    static String name(Directory root) {
        return root.path().length == 0 ? "the source" : PythonText.show(root.path());
    }
}
