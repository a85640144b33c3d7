package io.clairfs.tools.calibrate;

import io.clairfs.cache.posix.NativeMemory;
import io.clairfs.tools.config.ModelFile.Device;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures how fast the source delivers files in random order, t(gamma), and its latency to the first byte. A very large file is read in
 * part.
 *
 * <p>Each file is read once, so that no cache of the source's client answers. A step ends early when its share of files is used up.
 */
final class SourceSpeed {
    private static final int MOST_FILES = 100_000;
    private static final int LATENCY_FILES = 32;
    private static final int MOST_THREADS = 32;
    private static final long LARGEST_READ = 64 << 20;
    private static final double NANOS_PER_SECOND = 1e9;

    private final List<Path> files;
    private final AtomicInteger next = new AtomicInteger();

    private SourceSpeed(List<Path> files) {
        this.files = files;
    }

    /** The number of steps of a measurement. */
    static int steps() {
        return 1 + Integer.bitCount(2 * MOST_THREADS - 1);
    }

    static Device measure(Path source, long stepMs, Runnable stepDone) throws IOException {
        SourceSpeed speed = new SourceSpeed(someFiles(source));
        double latency = speed.latency();
        stepDone.run();
        return new Device(
                null, latency, ThreadSweep.measureSteps(speed::readers, MOST_THREADS, stepMs, stepDone), null);
    }

    private static List<Path> someFiles(Path source) throws IOException {
        List<Path> found = filesWithContent(source);
        if (found.size() < 2 * LATENCY_FILES) {
            throw new IOException(source + " has only " + found.size() + " files with content; to measure a source, "
                    + 2 * LATENCY_FILES + " are needed");
        }
        Collections.shuffle(found, new Random());
        return found;
    }

    /** The first files with content, as many as are measured at most. */
    static List<Path> filesWithContent(Path source) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(source, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile() && attributes.size() > 0) {
                    found.add(file);
                }
                return found.size() < MOST_FILES ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException unreadable) throws IOException {
                if (file.equals(source)) {
                    throw unreadable;
                }
                return FileVisitResult.CONTINUE; // such as lost+found
            }
        });
        return found;
    }

    /** Seconds from open to the first byte, median. Files that cannot be opened are passed over. */
    private double latency() throws IOException {
        long[] ns = new long[LATENCY_FILES];
        ByteBuffer first = ByteBuffer.allocateDirect(1);
        for (int i = 0; i < ns.length; ) {
            if (next.get() >= files.size()) {
                throw new IOException(
                        files.getFirst() + " and the others of the source cannot be read, or too few of them");
            }
            Path file = files.get(next.getAndIncrement());
            long start = System.nanoTime();
            try (FileChannel channel = FileChannel.open(file)) {
                int _ = channel.read(first.clear(), 0);
                ns[i] = System.nanoTime() - start;
                i++;
            } catch (AccessDeniedException | NoSuchFileException passedOver) {
                assert i < ns.length : "another one takes its place";
            }
        }
        Arrays.sort(ns);
        return ns[ns.length / 2] / NANOS_PER_SECOND;
    }

    /** Makes the workers of a step. Each step may use its share of the remaining files, so that some are left for the last step. */
    private ThreadSweep.Worker readers(int threads) {
        int stepsLeft = Integer.numberOfTrailingZeros(MOST_THREADS) - Integer.numberOfTrailingZeros(threads) + 1;
        int end = next.get() + (files.size() - next.get()) / stepsLeft;
        return () -> () -> {
            int file = next.getAndUpdate(at -> Math.min(at + 1, end));
            return file < end ? readWhole(files.get(file)) : ThreadSweep.Work.NO_MORE;
        };
    }

    /** The bytes read; none of a file that cannot be opened. */
    private static long readWhole(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            long size = Math.min(channel.size(), LARGEST_READ);
            MemorySegment into = NativeMemory.allocate(size);
            try {
                ByteBuffer rest = into.asByteBuffer();
                while (rest.hasRemaining() && channel.read(rest, rest.position()) > 0) {}
                return rest.position();
            } finally {
                NativeMemory.free(into);
            }
        } catch (AccessDeniedException | NoSuchFileException passedOver) {
            return 0;
        }
    }
}
