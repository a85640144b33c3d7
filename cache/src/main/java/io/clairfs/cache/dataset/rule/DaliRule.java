package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.LinkTarget;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayList;
import java.util.List;

/**
 * DALI's {@code readers.file(file_root=...)}: the root's directories, links to directories included, sorted by bytes; in each, but not
 * below, the files sorted by bytes. Hidden ones count. A link counts as a file by its name alone, wherever it leads. Source:
 * dali/operators/reader/loader/discover_files.cc.
 */
final class DaliRule implements IndexRule {
    private static final NameEnds KNOWN = NameEnds.of(
            ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pnm", ".ppm", ".pgm", ".pbm", ".jp2", ".webp", ".flac",
            ".ogg", ".wav");

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        TreeWalk.Visit top = walk.visit(root.path(), root, 0);
        List<TreeWalk.Visit> classes = new ArrayList<>();
        for (int at = 0; at < top.listing().count(); at++) {
            TreeWalk.Visit visit = walk.enter(top, at);
            if (visit != null) {
                classes.add(visit);
            } else if (walk.kind(top, at) == LinkTarget.NOTHING) {
                throw new DatasetException(PythonText.show(top.listing().path(at))
                        + " leads nowhere: DALI refuses a broken link beside the class directories; remove it");
            }
        }
        SampleIndex.Builder index = new SampleIndex.Builder();
        for (TreeWalk.Visit clazz : classes) {
            Listing listing = clazz.listing();
            int directory = index.directory(clazz.path(), listing);
            for (int at = 0; at < listing.count(); at++) {
                if (listing.kind(at) != Listing.Kind.DIRECTORY && KNOWN.matches(listing.name(at))) {
                    index.add(directory, at, walk.file(clazz, at));
                }
            }
        }
        if (index.count() == 0) {
            throw new DatasetException("no files in the directories of " + ImageFolderRule.name(root)
                    + ": dali expects one directory per class; for another layout use --index-rule sorted");
        }
        return index.build(tree);
    }
}
