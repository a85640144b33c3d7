package io.clairfs.cache.dataset.rule;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.source.SourceException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The samples that a file lists: one path per line, relative to the root of the whole dataset, in the order of the lines. A path may go through
 * links and may occur more than once. Of a part of the dataset the index has the lines below that.
 *
 * @param file the list, an absolute path outside the mount
 * @param looks reads it, for it may not answer
 */
record ManifestRule(Path file, FileLooks looks) implements IndexRule {
    private static final int MOST_PATH_BYTES = 4096;

    /** One for all: who asks about a file that hangs already is told at once. */
    private static final FileLooks LOOKS = new FileLooks();

    static ManifestRule of(Path file) {
        return new ManifestRule(file, LOOKS);
    }

    /** What came of a look: an index, or why there is none. */
    private record Look(
            @Nullable SampleIndex index,
            @Nullable DatasetException refusal,
            @Nullable SourceException failure) {
        SampleIndex get() throws DatasetException, SourceException {
            if (refusal != null) {
                throw refusal;
            } else if (failure != null) {
                throw failure;
            }
            return Objects.requireNonNull(index);
        }
    }

    @Override
    public SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        try {
            return looks.of("manifest", file.toString(), tree.entryCount(), () -> look(tree, root))
                    .get();
        } catch (InvalidSpecException noAnswer) {
            throw new DatasetException(String.valueOf(noAnswer.getMessage()));
        }
    }

    private Look look(DatasetTree tree, Directory root) {
        try {
            return new Look(read(tree, root), null, null);
        } catch (DatasetException e) {
            return new Look(null, e, null);
        } catch (SourceException e) {
            return new Look(null, null, e);
        }
    }

    private SampleIndex read(DatasetTree tree, Directory root) throws DatasetException, SourceException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new DatasetException("the manifest " + file + " is not a file");
        }
        Reader reader = new Reader(tree, root.path());
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
            throw new DatasetException("the manifest " + file + " lists no sample"
                    + (root.path().length == 0
                            ? ""
                            : " below " + PythonText.show(root.path())
                                    + ": its paths are relative to the root of the whole dataset, so they begin with "
                                    + PythonText.show(root.path()) + "/"));
        }
        return reader.index.build(tree);
    }

    private record Place(TreeWalk.Visit visit, int directory) {}

    /** Adds lines to an index; shared directories are looked up once. */
    private final class Reader {
        private final TreeWalk walk;
        private final TreeWalk.Visit top;
        private final byte[] part;
        private final SampleIndex.Builder index = new SampleIndex.Builder();
        private final Map<String, Place> places = new HashMap<>();
        private int lines;

        /** Takes the lines below {@code part}; the empty path is the whole dataset. */
        Reader(DatasetTree tree, byte[] part) throws SourceException {
            this.part = part;
            walk = new TreeWalk(tree);
            top = walk.visit(tree.root().path(), tree.root(), 0);
        }

        private boolean isBelowPart(byte[] line, int from, int to) {
            int end = from + part.length;
            return part.length == 0
                    || (end < to && line[end] == '/' && Arrays.equals(line, from, end, part, 0, part.length));
        }

        void addLine(byte[] line, int length) throws DatasetException, SourceException {
            lines++;
            int to = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
            int from = 0;
            while (to - from > 1 && line[from] == '.' && line[from + 1] == '/') {
                from += 2;
            }
            if (from == to || !isBelowPart(line, from, to)) {
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
