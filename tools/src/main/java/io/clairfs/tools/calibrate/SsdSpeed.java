package io.clairfs.tools.calibrate;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import io.clairfs.tools.config.ModelFile.Device;
import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Measures how fast a local disk reads and writes pieces of a sample's size, r_j(p) and w_j(p), without the page cache. */
final class SsdSpeed {
    private static final int PIECE = 128 << 10;
    private static final long FILE_BYTES = 512L << 20;
    private static final int MOST_THREADS = 8;
    private static final int LATENCY_READS = 64;
    private static final double NANOS_PER_SECOND = 1e9;

    private SsdSpeed() {}

    /** The number of steps of a measurement. */
    static int steps() {
        return 1 + 2 * Integer.bitCount(2 * MOST_THREADS - 1);
    }

    /** Writes half a gigabyte into {@code directory}, which must have the room. Removes the file. */
    static Device measure(Path directory, long stepMs, Runnable stepDone) throws IOException {
        Files.createDirectories(directory);
        long room = Files.getFileStore(directory).getUsableSpace();
        if (room < 2 * FILE_BYTES) {
            throw new IOException(directory + " has too little room to measure: " + 2 * FILE_BYTES / (1 << 20)
                    + " MiB are needed, " + room / (1 << 20) + " MiB are free");
        }
        try (Scratch work = Scratch.in(directory);
                FileChannel file = FileChannel.open(
                        work.directory().resolve("speed"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            fill(file);
            Map<Integer, Double> write = ThreadSweep.measure(() -> writer(file), MOST_THREADS, stepMs, stepDone);
            file.force(false);
            Path path = work.directory().resolve("speed");
            dropPages(path);
            double latency = latency(file);
            stepDone.run();
            Map<Integer, Double> read = ThreadSweep.measure(() -> reader(file, path), MOST_THREADS, stepMs, stepDone);
            return new Device(null, latency, read, write);
        }
    }

    private static void fill(FileChannel file) throws IOException {
        ByteBuffer piece = randomPiece();
        for (long at = 0; at < FILE_BYTES; at += PIECE) {
            file.write(piece.rewind(), at);
        }
        file.force(false);
    }

    private static ByteBuffer randomPiece() {
        byte[] bytes = new byte[PIECE];
        ThreadLocalRandom.current().nextBytes(bytes);
        return ByteBuffer.allocateDirect(PIECE).put(bytes);
    }

    private static long somewhere() {
        return ThreadLocalRandom.current().nextLong(FILE_BYTES / PIECE) * PIECE;
    }

    private static void dropPages(Path file) throws IOException {
        int fd = Posix.openAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), Posix.O_RDONLY);
        try {
            CachedPages.drop(fd);
        } finally {
            Posix.close(fd);
        }
    }

    /** Writes pieces. Each write goes through to the disk. */
    private static ThreadSweep.Work writer(FileChannel file) {
        ByteBuffer piece = randomPiece();
        return () -> {
            int n = file.write(piece.rewind(), somewhere());
            file.force(false);
            return n;
        };
    }

    /** Reads pieces. The page cache keeps a piece after its first read, so pages are dropped at intervals. */
    private static ThreadSweep.Work reader(FileChannel file, Path path) {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        int[] reads = {0};
        return () -> {
            if (++reads[0] % (FILE_BYTES / PIECE / 16) == 0) {
                dropPages(path);
            }
            return file.read(piece.clear(), somewhere());
        };
    }

    private static double latency(FileChannel file) throws IOException {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        long[] ns = new long[LATENCY_READS];
        for (int i = 0; i < ns.length; i++) {
            long start = System.nanoTime();
            if (file.read(one.clear(), somewhere()) != 1) {
                throw new IOException("the file that is measured became shorter");
            }
            ns[i] = System.nanoTime() - start;
        }
        Arrays.sort(ns);
        return ns[ns.length / 2] / NANOS_PER_SECOND;
    }
}
