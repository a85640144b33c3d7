package io.clairfs.cache.dataset;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The samples of a dataset in the order in which a framework numbers them: sample {@code i} is the file that the framework's
 * dataset opens for index {@code i}.
 *
 * <p>A sample's path is the one that the framework uses and may go through links; its file is where that path ends. Costs 12 bytes per
 * sample beside the tree, and 4 per entry of the tree to find a file's sample.
 */
public final class SampleIndex {
    /** In place of a file: the path leads nowhere inside the dataset. */
    public static final int NO_FILE = -1;

    private final List<Walked> directories;
    private final int[] directoryOf;
    private final int[] at;
    private final int[] files;
    private final int[] sampleOfFile;

    private SampleIndex(Builder builder, int entries) {
        directories = List.copyOf(builder.directories);
        directoryOf = Arrays.copyOf(builder.directoryOf, builder.count);
        at = Arrays.copyOf(builder.at, builder.count);
        files = Arrays.copyOf(builder.files, builder.count);
        sampleOfFile = new int[entries];
        Arrays.fill(sampleOfFile, -1);
        for (int sample = files.length - 1; sample >= 0; sample--) {
            if (files[sample] != NO_FILE) {
                sampleOfFile[files[sample]] = sample;
            }
        }
    }

    /** How many samples there are. */
    public int size() {
        return files.length;
    }

    /** The tree number of the file of {@code sample}, or {@link #NO_FILE}. */
    public int file(int sample) {
        return files[sample];
    }

    /** The first sample whose file has this tree number, or -1. */
    public int sampleOf(int file) {
        return file < sampleOfFile.length ? sampleOfFile[file] : -1;
    }

    /** The path by which the framework opens {@code sample}, relative to the root of the dataset. */
    public byte[] path(int sample) {
        Walked walked = directories.get(directoryOf[sample]);
        return Directory.join(walked.path, walked.listing.name(at[sample]));
    }

    int directoryCount() {
        return directories.size();
    }

    byte[] directoryPath(int directory) {
        return directories.get(directory).path;
    }

    Listing listing(int directory) {
        return directories.get(directory).listing;
    }

    int directoryOf(int sample) {
        return directoryOf[sample];
    }

    /** The sample's index in the listing of its directory. */
    int entryOf(int sample) {
        return at[sample];
    }

    /** The directories that hold files of this index, each once. */
    public List<Directory> directoriesOfFiles(DatasetTree tree) {
        List<Directory> found = new ArrayList<>();
        Listing last = null;
        java.util.Set<Directory> seen = new java.util.HashSet<>();
        for (int file : files) {
            if (file == NO_FILE || (last != null && file >= last.base() && file < last.base() + last.count())) {
                continue;
            }
            last = tree.entry(file).listing();
            if (seen.add(last.directory())) {
                found.add(last.directory());
            }
        }
        return found;
    }

    private record Walked(byte[] path, Listing listing) {}

    /** Collects samples in index order. */
    public static final class Builder {
        private final List<Walked> directories = new ArrayList<>();
        private int[] directoryOf = new int[1024];
        private int[] at = new int[1024];
        private int[] files = new int[1024];
        private int count;

        /** Adds a directory by its listing and the framework's path. Returns its number for {@link #add}. */
        public int directory(byte[] path, Listing listing) {
            directories.add(new Walked(path, listing));
            return directories.size() - 1;
        }

        /** Adds the sample at {@code place} in the listing of {@code directory}; {@code file} is its tree number or {@link SampleIndex#NO_FILE}. */
        public void add(int directory, int place, int file) {
            if (count == at.length) {
                int larger = Math.toIntExact(Math.min(Integer.MAX_VALUE - 8L, count * 2L));
                directoryOf = Arrays.copyOf(directoryOf, larger);
                at = Arrays.copyOf(at, larger);
                files = Arrays.copyOf(files, larger);
            }
            directoryOf[count] = directory;
            at[count] = place;
            files[count] = file;
            count++;
        }

        public int count() {
            return count;
        }

        public SampleIndex build(DatasetTree tree) {
            return new SampleIndex(this, tree.entryCount());
        }
    }
}
