package io.clairfs.tools.node.seed;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetTree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Guesses which directory a trainer takes for the root of its dataset: the mount, or a directory in it such as {@code train}. */
final class DatasetRoots {
    private static final double MOST_OF_THEM = 0.9;

    private DatasetRoots() {}

    /** The roots that these files may belong to, as in the job key {@code subset}, the more probable first. */
    static List<String> of(DatasetTree tree, int[] files) {
        Map<String, Integer> counts = new HashMap<>();
        for (int file : files) {
            String path = new String(tree.entry(file).path(), UTF_8);
            int slash = path.indexOf('/');
            if (slash > 0) {
                counts.merge(path.substring(0, slash), 1, Integer::sum);
            }
        }
        List<String> roots = new ArrayList<>(List.of(""));
        counts.forEach((directory, count) -> {
            if (count >= MOST_OF_THEM * files.length && isWritable(directory)) {
                roots.add(directory);
            }
        });
        return roots;
    }

    /** Whether a job line can name it. */
    private static boolean isWritable(String directory) {
        return directory.chars().noneMatch(c -> Character.isWhitespace(c) || c == '\uFFFD');
    }
}
