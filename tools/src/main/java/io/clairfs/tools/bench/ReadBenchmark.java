package io.clairfs.tools.bench;

import io.clairfs.tools.ByteSize;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/**
 * Compares the time of a first read through the mount with that of a warm read from the source.
 *
 * <p>Readers act like a trainer's loaders: they open, fstat, read to the end and close each file of a batch, then pause for the step.
 * Batches through the mount read each file for the first time in its epoch. They alternate with batches of random warm files of the source,
 * so that both see the same machine load. The results are medians over all files of all epochs.
 */
public final class ReadBenchmark {
    private static final long STAGED_TIMEOUT_MS = 120_000;

    private final Path directory;
    private final MountedProcess mount;

    private final int batch;

    private ReadBenchmark(Path directory, MountedProcess mount, int batch) {
        this.directory = directory;
        this.mount = mount;
        this.batch = batch;
    }

    /**
     * One line of the result; times are medians in microseconds per file.
     *
     * @param nativeUs a random file of the source, read before and in the page cache
     * @param mountedUs a file through the mount, read for the first time in its epoch
     * @param ratio {@code mountedUs / nativeUs}
     * @param upcalls files whose reads caused a request to the daemon
     * @param garbageBytes allocated on the daemon's heap for each of the reads
     */
    public record Row(
            long fileBytes,
            int threads,
            int files,
            double nativeUs,
            double mountedUs,
            double ratio,
            long upcalls,
            double garbageBytes) {}

    /**
     * Measures files of one size.
     *
     * @param work an empty directory on the filesystem to compare with
     * @param batch the number of files that a reader reads without a pause
     * @param epochs how often every file is read through the mount and counted
     * @param stepUs the pause after each file of a batch, on average, microseconds
     */
    public static List<Row> run(
            Path work, long fileBytes, int files, int batch, int epochs, List<Integer> threads, long stepUs)
            throws IOException, InterruptedException {
        Path source = Files.createDirectories(work.resolve("source-" + fileBytes));
        Path point = Files.createDirectories(work.resolve("mount-" + fileBytes));
        SampleFiles.make(source, "f", fileBytes, files);
        List<Row> rows = new ArrayList<>();
        try (MountedProcess mount =
                MountedProcess.start(source, point, List.of("--index-rule", "sorted", "--memory", "4GiB"))) {
            for (int count : threads) {
                rows.add(new ReadBenchmark(source, mount, batch).measure(fileBytes, files, epochs, count, stepUs));
            }
        }
        return rows;
    }

    private Row measure(long fileBytes, int files, int epochs, int threads, long stepUs)
            throws IOException, InterruptedException {
        mount.writeJob(
                "name=bench" + threads + " seed=7 epochs=" + (epochs + 1) + " batch=" + batch + " workers=" + threads);
        mount.awaitStaged(Math.min(files / 3, 2_000), STAGED_TIMEOUT_MS);
        List<String> index = mount.index();
        long[] nativeNs = {};
        long[] mountedNs = {};
        JsonNode before = mount.status();
        try (ExecutorService readers = Executors.newFixedThreadPool(threads)) {
            for (int epoch = 0; epoch <= epochs; epoch++) {
                if (epoch == 1) { // the first epoch warms the source, the compiler and the branch predictors
                    before = mount.status();
                    nativeNs = new long[0];
                    mountedNs = new long[0];
                }
                List<String> order = mount.order("bench" + threads, epoch).stream()
                        .map(i -> index.get(Integer.parseInt(i)))
                        .toList();
                long[][] both = readEpoch(readers, order, threads, stepUs, epoch);
                nativeNs = concat(nativeNs, both[0]);
                mountedNs = concat(mountedNs, both[1]);
            }
        }
        JsonNode after = mount.status();
        long upcalls = difference(before, after, "/reads/upcalls");
        double garbage = (double) difference(before, after, "/process/allocated_bytes") / Math.max(1, mountedNs.length);
        mount.writeJob("stop=bench" + threads);
        double nativeUs = medianUs(nativeNs);
        double mountedUs = medianUs(mountedNs);
        return new Row(
                fileBytes, threads, mountedNs.length, nativeUs, mountedUs, mountedUs / nativeUs, upcalls, garbage);
    }

    private static long difference(JsonNode before, JsonNode after, String field) {
        return after.at(field).asLong() - before.at(field).asLong();
    }

    private long[][] readEpoch(ExecutorService readers, List<String> order, int threads, long stepUs, int seed)
            throws InterruptedException {
        List<Future<long[][]>> parts = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int worker = t;
            parts.add(readers.submit(() -> readPart(order, worker, threads, stepUs, new Random(seed))));
        }
        long[] nativeNs = {};
        long[] mountedNs = {};
        for (Future<long[][]> part : parts) {
            try {
                nativeNs = concat(nativeNs, part.get()[0]);
                mountedNs = concat(mountedNs, part.get()[1]);
            } catch (ExecutionException e) {
                throw new IllegalStateException("a reader failed", e.getCause());
            }
        }
        return new long[][] {nativeNs, mountedNs};
    }

    /** Runs one worker, which reads every {@code workers}-th batch. */
    private long[][] readPart(List<String> order, int worker, int workers, long stepUs, Random random)
            throws IOException, InterruptedException {
        List<Long> nativeNs = new ArrayList<>();
        List<Long> mountedNs = new ArrayList<>();
        int batches = Math.ceilDiv(order.size(), batch);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Math.max(1, Files.size(directory.resolve(order.getFirst()))));
            for (int b = worker; b < batches; b += workers) {
                List<String> files = order.subList(b * batch, Math.min(order.size(), (b + 1) * batch));
                for (int i = 0; i < files.size(); i++) {
                    nativeNs.add(SampleFiles.read(directory, order.get(random.nextInt(order.size())), buffer));
                }
                TimeUnit.MICROSECONDS.sleep(stepUs * files.size());
                for (String file : files) {
                    mountedNs.add(SampleFiles.read(mount.point(), file, buffer));
                }
                TimeUnit.MICROSECONDS.sleep(stepUs * files.size());
            }
        }
        return new long[][] {unbox(nativeNs), unbox(mountedNs)};
    }

    private static double medianUs(long[] ns) {
        long[] sorted = ns.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2] / 1e3;
    }

    private static long[] concat(long[] a, long[] b) {
        long[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }

    private static long[] unbox(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    /** Formats the rows as a table. */
    public static String table(List<Row> rows) {
        StringBuilder text = new StringBuilder(String.format(
                "%10s %8s %8s %12s %14s %7s %8s %14s%n",
                "file size", "threads", "reads", "warm local", "mounted first", "ratio", "upcalls", "garbage"));
        for (Row r : rows) {
            text.append(String.format(
                    java.util.Locale.ROOT,
                    "%10s %8d %8d %9.1f us %11.1f us %7.2f %8d %8.0f bytes%n",
                    ByteSize.show(r.fileBytes),
                    r.threads,
                    r.files,
                    r.nativeUs,
                    r.mountedUs,
                    r.ratio,
                    r.upcalls,
                    r.garbageBytes));
        }
        return text.toString();
    }
}
