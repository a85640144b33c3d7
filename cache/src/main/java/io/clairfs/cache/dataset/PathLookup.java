package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds samples by the paths with which a framework opens them. Costs 4 bytes per entry of the directories that hold samples, so it is made
 * for one series of look-ups and then dropped.
 */
public final class PathLookup {
    /** In place of a sample: no sample has this path. */
    public static final int NO_SAMPLE = -1;

    private final SampleIndex index;
    private final Map<String, Integer> directories = new HashMap<>();
    private final int[][] sampleByEntry;

    public PathLookup(SampleIndex index) {
        this.index = index;
        sampleByEntry = new int[index.directoryCount()][];
        for (int directory = 0; directory < sampleByEntry.length; directory++) {
            directories.put(key(index.directoryPath(directory)), directory);
            sampleByEntry[directory] = new int[index.listing(directory).count()];
            Arrays.fill(sampleByEntry[directory], NO_SAMPLE);
        }
        for (int sample = index.size() - 1; sample >= 0; sample--) {
            sampleByEntry[index.directoryOf(sample)][index.entryOf(sample)] = sample;
        }
    }

    /** The first sample with this path, or {@link #NO_SAMPLE}. The path is relative to the root of the dataset and may begin with {@code ./}. */
    public int sampleOf(byte[] path) {
        int from = path.length > 1 && path[0] == '.' && path[1] == '/' ? 2 : 0;
        int slash = path.length - 1;
        while (slash >= from && path[slash] != '/') {
            slash--;
        }
        Integer directory = directories.get(key(Arrays.copyOfRange(path, from, Math.max(from, slash))));
        if (directory == null || slash == from) {
            return NO_SAMPLE;
        }
        int at = index.listing(directory).find(path, slash + 1, path.length);
        return at < 0 ? NO_SAMPLE : sampleByEntry[directory][at];
    }

    private static String key(byte[] path) {
        return new String(path, ISO_8859_1);
    }
}
