package io.clairfs.cache.dataset.rule;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The samples that a file lists: one path per line, relative to the root of the dataset, in the order of the lines. A path may go through
 * links and may occur more than once.
 *
 * @param file the list, an absolute path outside the mount
 */
record ManifestRule(Path file) implements IndexRule {
    private static final int MOST_PATH_BYTES = 4096;

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new DatasetException("the manifest " + file + " is not a file");
        }
        Reader reader = new Reader(tree, root);
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            byte[] line = new byte[MOST_PATH_BYTES];
            int length = 0;
            for (int c = in.read(); c >= 0; c = in.read()) {
                if (c == '\n') {
                    reader.addLine(line, length);
                    length = 0;
                } else if (length == MOST_PATH_BYTES) {
                    throw new DatasetException("a line of " + file + " has more than " + MOST_PATH_BYTES + " bytes");
                } else {
                    line[length++] = (byte) c;
                }
            }
            reader.addLine(line, length);
        } catch (IOException e) {
            throw new DatasetException("cannot read the manifest " + file + ": " + e.getMessage());
        }
        if (reader.index.count() == 0) {
            throw new DatasetException("the manifest " + file + " lists no sample");
        }
        return reader.index.build(tree);
    }

    private record Place(TreeWalk.Visit visit, int directory) {}

    /** Adds lines to an index; shared directories are looked up once. */
    private final class Reader {
        private final TreeWalk walk;
        private final TreeWalk.Visit top;
        private final SampleIndex.Builder index = new SampleIndex.Builder();
        private final Map<String, Place> places = new HashMap<>();
        private int lines;

        Reader(DatasetTree tree, Directory root) throws SourceException {
            walk = new TreeWalk(tree);
            top = walk.visit(root.path(), root, 0);
        }

        void addLine(byte[] line, int length) throws DatasetException, SourceException {
            lines++;
            int to = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
            int from = 0;
            while (to - from > 1 && line[from] == '.' && line[from + 1] == '/') {
                from += 2;
            }
            if (from == to) {
                return;
            }
            int slash = to - 1;
            while (slash >= from && line[slash] != '/') {
                slash--;
            }
            Place place = place(line, from, Math.max(from, slash));
            byte[] name = Arrays.copyOfRange(line, slash < from ? from : slash + 1, to);
            int at = place == null ? -1 : place.visit.listing().find(name, 0, name.length);
            if (place == null || at < 0 || !walk.isFileName(place.visit, at)) {
                throw new DatasetException("line " + lines + " of " + file + ": "
                        + PythonText.show(Arrays.copyOfRange(line, from, to)) + " is no file below the dataset's root");
            }
            index.add(place.directory, at, walk.file(place.visit, at));
        }

        private @Nullable Place place(byte[] line, int from, int to) throws DatasetException, SourceException {
            String key = new String(line, from, to - from, ISO_8859_1);
            Place known = places.get(key);
            if (known != null) {
                return known;
            }
            TreeWalk.Visit visit = walk.descend(top, line, from, to);
            if (visit == null) {
                return null;
            }
            Place place = new Place(visit, index.directory(visit.path(), visit.listing()));
            places.put(key, place);
            return place;
        }
    }
}
