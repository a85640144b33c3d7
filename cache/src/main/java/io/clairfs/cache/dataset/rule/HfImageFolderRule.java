package io.clairfs.cache.dataset.rule;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.LinkTarget;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.PathOrder;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * HF datasets' {@code imagefolder} of one split: the files that its pattern {@code **} matches, sorted by the whole path. It skips hidden
 * files and directories, and directories that begin with two underscores; links to directories are not followed, and links that lead
 * nowhere do not count. A folder with metadata has the order of the metadata's rows; this rule refuses it. Sources: datasets/data_files.py,
 * packaged_modules/folder_based_builder and imagefolder (5.0).
 */
final class HfImageFolderRule implements IndexRule {
    private static final NameEnds IMAGES = NameEnds.of(
            ".blp", ".bmp", ".dib", ".bufr", ".cur", ".pcx", ".dcx", ".dds", ".ps", ".eps", ".fit", ".fits", ".fli",
            ".flc", ".ftc", ".ftu", ".gbr", ".gif", ".grib", ".h5", ".hdf", ".png", ".apng", ".jp2", ".j2k", ".jpc",
            ".jpf", ".jpx", ".j2c", ".icns", ".ico", ".im", ".iim", ".tif", ".tiff", ".jfif", ".jpe", ".jpg", ".jpeg",
            ".mpg", ".mpeg", ".msp", ".pcd", ".pxr", ".pbm", ".pgm", ".ppm", ".pnm", ".psd", ".bw", ".rgb", ".rgba",
            ".sgi", ".ras", ".tga", ".icb", ".vda", ".vst", ".webp", ".wmf", ".emf", ".xbm", ".xpm");
    private static final List<byte[]> METADATA = List.of(
            "metadata.csv".getBytes(US_ASCII),
            "metadata.jsonl".getBytes(US_ASCII),
            "metadata.parquet".getBytes(US_ASCII));

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        TreeWalk walk = new TreeWalk(tree);
        FoundFiles found = new FoundFiles(walk);
        Deque<TreeWalk.Visit> waiting = new ArrayDeque<>();
        waiting.add(walk.visit(root.path(), root, 0));
        while (!waiting.isEmpty()) {
            TreeWalk.Visit visit = waiting.remove();
            requireNoMetadata(visit.listing());
            found.add(
                    visit,
                    (v, at) -> v.listing().name(at)[0] != '.'
                            && IMAGES.isExtensionOrTheOneBefore(v.listing().name(at))
                            && walk.kind(v, at) == LinkTarget.FILE);
            for (int at = 0; at < visit.listing().count(); at++) {
                if (visit.listing().kind(at) == Listing.Kind.DIRECTORY
                        && isMatched(visit.listing().name(at))) {
                    TreeWalk.Visit below = walk.enter(visit, at);
                    if (below != null) {
                        waiting.add(below);
                    }
                }
            }
        }
        if (found.isEmpty()) {
            throw new DatasetException(
                    "no images in " + ImageFolderRule.name(root) + ": for other files use --index-rule sorted");
        }
        return found.sorted(PathOrder.CODE_POINTS, tree);
    }

    private static boolean isMatched(byte[] directory) {
        boolean special = directory.length > 1 && directory[0] == '_' && directory[1] == '_';
        return directory[0] != '.' && !special;
    }

    private static void requireNoMetadata(Listing listing) throws DatasetException {
        for (byte[] name : METADATA) {
            int at = listing.find(name, 0, name.length);
            if (at >= 0) {
                throw new DatasetException(PythonText.show(listing.path(at))
                        + " decides about the order: write the paths of its rows, one per line, to a file and use"
                        + " --index-rule manifest:FILE");
            }
        }
    }
}
