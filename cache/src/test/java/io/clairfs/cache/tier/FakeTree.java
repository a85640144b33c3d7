package io.clairfs.cache.tier;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;

/**
 * A tree of files that are nowhere, listed without a disk, and the bytes that each of them would have.
 *
 * <p>File {@code i} is called {@code d<i / 1000>/<i>}; {@link #number} says under which number the tree has it.
 */
public final class FakeTree implements Source {
    private static final int PER_DIRECTORY = 1000;

    private final int files;
    private final IntToLongFunction sizes;
    private final IntToLongFunction mtimesNs;

    private FakeTree(int files, IntToLongFunction sizes, IntToLongFunction mtimesNs) {
        this.files = files;
        this.sizes = sizes;
        this.mtimesNs = mtimesNs;
    }

    public static DatasetTree of(long... sizes) {
        return of(sizes.length, i -> sizes[i]);
    }

    public static DatasetTree of(int files, IntToLongFunction sizes) {
        return of(files, sizes, i -> 1_000_000_000L + i);
    }

    public static DatasetTree of(int files, IntToLongFunction sizes, IntToLongFunction mtimesNs) {
        try {
            DatasetTree tree = new DatasetTree(new FakeTree(files, sizes, mtimesNs), 2, line -> {
                throw new AssertionError(line);
            });
            tree.complete().join();
            tree.close();
            return tree;
        } catch (SourceException e) {
            throw new AssertionError(e);
        }
    }

    /** The number in {@code tree} of file {@code i}. */
    public static int number(DatasetTree tree, int i) {
        try {
            Entry entry = tree.find((directory(i) + "/" + i).getBytes(UTF_8), 1000);
            if (entry == null) {
                throw new AssertionError("no file " + i);
            }
            return entry.number();
        } catch (SourceException e) {
            throw new AssertionError(e);
        }
    }

    /** The bytes that the file with this number has, with the caller's reference. */
    public static SampleBuffer sample(DatasetTree tree, int file) {
        byte[] bytes = new byte[Math.toIntExact(tree.entry(file).size())];
        new SplittableRandom(seed(tree, file)).nextBytes(bytes);
        SampleBuffer sample = SampleBuffer.allocate(bytes.length);
        sample.bytes().copyFrom(MemorySegment.ofArray(bytes));
        return sample;
    }

    /** Whether {@code sample} is what {@link #sample} gives. */
    static boolean isRight(DatasetTree tree, int file, SampleBuffer sample) {
        SampleBuffer right = sample(tree, file);
        boolean same = right.bytes().mismatch(sample.bytes()) == -1;
        right.release();
        return same;
    }

    private static long seed(DatasetTree tree, int file) {
        Entry entry = tree.entry(file);
        return Arrays.hashCode(entry.path()) * 31L + entry.file().mtimeNs();
    }

    private static String directory(int i) {
        return "d" + i / PER_DIRECTORY;
    }

    @Override
    public List<byte[]> names(byte[] directory) {
        List<byte[]> names = new ArrayList<>();
        if (directory.length == 0) {
            for (int i = 0; i < files; i += PER_DIRECTORY) {
                names.add(directory(i).getBytes(UTF_8));
            }
        } else {
            int first = Integer.parseInt(new String(directory, UTF_8).substring(1)) * PER_DIRECTORY;
            for (int i = first; i < Math.min(files, first + PER_DIRECTORY); i++) {
                names.add(Integer.toString(i).getBytes(UTF_8));
            }
        }
        return names;
    }

    @Override
    public FileStatus status(byte[] path) {
        String name = new String(path, UTF_8);
        int slash = name.indexOf('/');
        if (slash < 0) {
            return new FileStatus(FileStatus.DIRECTORY | 0755, 0, 0, 4096, 0, 1);
        }
        int i = Integer.parseInt(name.substring(slash + 1));
        return new FileStatus(FileStatus.REGULAR | 0644, 0, 0, sizes.applyAsLong(i), mtimesNs.applyAsLong(i), i + 2L);
    }

    @Override
    public byte[] linkTarget(byte[] path) {
        throw new AssertionError("there are no links");
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) {
        throw new AssertionError("nobody reads");
    }

    @Override
    public void close() {}
}
