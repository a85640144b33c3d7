package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.PathOrder;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The label of each sample of a job. */
public final class SampleLabels {
    /** The label of a sample that has none. */
    public static final long NONE = -1;

    private final long[] bySample;

    private SampleLabels(long[] bySample) {
        this.bySample = bySample;
    }

    /** No sample has a label. */
    static SampleLabels none(int samples) {
        long[] none = new long[samples];
        Arrays.fill(none, NONE);
        return new SampleLabels(none);
    }

    /**
     * As torchvision's {@code ImageFolder} labels them: the place of the sample's first directory below the job's root among all of them, sorted by
     * name. A sample in no directory has no label.
     *
     * @param subset the job's root below the mount point; empty for the mount point
     */
    static SampleLabels ofDirectories(SamplePaths paths, String subset) {
        int root = subset.isEmpty() ? 0 : subset.getBytes(UTF_8).length + 1;
        Map<String, Integer> found = new HashMap<>(); // names of bytes, a character each
        int[] directory = new int[paths.size()];
        for (int sample = 0; sample < directory.length; sample++) {
            byte[] path = paths.path(sample);
            int end = root;
            while (end < path.length && path[end] != '/') {
                end++;
            }
            directory[sample] = end >= path.length
                    ? -1
                    : found.computeIfAbsent(new String(path, root, end - root, ISO_8859_1), _ -> found.size());
        }
        long[] label = new long[found.size()];
        Map<String, Integer> sorted = new TreeMap<>(SampleLabels::asPythonSorts);
        sorted.putAll(found);
        int next = 0;
        for (int number : sorted.values()) {
            label[number] = next++;
        }
        return new SampleLabels(
                Arrays.stream(directory).mapToLong(d -> d < 0 ? NONE : label[d]).toArray());
    }

    private static int asPythonSorts(String a, String b) {
        return PathOrder.CODE_POINTS.compare(a.getBytes(ISO_8859_1), b.getBytes(ISO_8859_1));
    }

    /** A file with a whole number for each sample, one on a line. */
    static SampleLabels read(Path file, int samples) throws IOException {
        List<Long> read = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(file)) {
                read.add(Long.parseLong(line.strip()));
            }
        } catch (NumberFormatException e) {
            throw new FeedException(file + ", line " + (read.size() + 1) + ": a label must be a whole number", e);
        } catch (CharacterCodingException e) {
            throw new FeedException(
                    file + " is no text: it must have a whole number for each sample, one on a line", e);
        }
        if (read.size() != samples) {
            throw new FeedException(file + " has " + read.size() + " labels, the job has " + samples
                    + " samples: write one label for each sample, in the order of the samples' numbers");
        }
        return new SampleLabels(read.stream().mapToLong(Long::longValue).toArray());
    }

    long of(int sample) {
        return bySample[sample];
    }
}
