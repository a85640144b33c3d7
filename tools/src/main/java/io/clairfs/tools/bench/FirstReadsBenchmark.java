package io.clairfs.tools.bench;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Compares the first reads of a trainer that told nothing, with the search for its seed and without.
 *
 * <p>The order is one that no search finds, so it goes on during all reads. Each round mounts twice, with {@code --find-seed on} and
 * {@code off}, and begins with either in turn. The results are medians of the rounds.
 */
public final class FirstReadsBenchmark {
    private static final int READS = 1000;
    private static final int FILE_BYTES = 110_000;
    private static final int THREADS = 2;
    private static final double NANOS_PER_MS = 1e6;
    private static final double NANOS_PER_US = 1e3;
    private static final SlowSourceSpec SLOW = new SlowSourceSpec(80_000_000, Duration.ofMillis(10));

    private FirstReadsBenchmark() {}

    /**
     * One line of the result.
     *
     * @param source {@code local}, whose pages are in the page cache, or {@code slow}
     * @param onMs time of all reads with the search, milliseconds, median of the rounds
     * @param offMs without it
     * @param ratio {@code onMs / offMs}
     * @param onUs median time of a read with the search, microseconds, median of the rounds
     * @param offUs without it
     */
    public record Row(String source, int rounds, double onMs, double offMs, double ratio, double onUs, double offUs) {}

    /** All reads of a pass, nanoseconds: their time together, and the median of one. */
    private record Pass(double allNs, double medianNs) {}

    /**
     * Measures over a local source and over a slow one.
     *
     * @param work an empty directory
     * @param onRound is called after each round
     */
    public static List<Row> run(Path work, int rounds, Runnable onRound) throws IOException, InterruptedException {
        Path dataset = Files.createDirectories(work.resolve("dataset"));
        SampleFiles.make(dataset, "f", FILE_BYTES, READS);
        Path point = Files.createDirectories(work.resolve("mount"));
        Pass _ = pass(dataset, point, "off", 0); // the first one reads from the disk
        List<Row> rows = new ArrayList<>();
        rows.add(rounds("local", dataset, point, rounds, onRound));
        Path slowPoint = Files.createDirectories(work.resolve("slow"));
        try (SlowMount slow = SlowMount.mount(dataset, slowPoint, SLOW)) {
            rows.add(rounds("slow", slow.point(), point, rounds, onRound));
        }
        return rows;
    }

    private static Row rounds(String name, Path source, Path point, int rounds, Runnable onRound)
            throws IOException, InterruptedException {
        List<Pass> on = new ArrayList<>();
        List<Pass> off = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            for (String search : round % 2 == 0 ? List.of("on", "off") : List.of("off", "on")) {
                (search.equals("on") ? on : off).add(pass(source, point, search, round));
            }
            onRound.run();
        }
        double onNs = median(on.stream().mapToDouble(Pass::allNs).toArray());
        double offNs = median(off.stream().mapToDouble(Pass::allNs).toArray());
        return new Row(
                name,
                rounds,
                onNs / NANOS_PER_MS,
                offNs / NANOS_PER_MS,
                onNs / offNs,
                median(on.stream().mapToDouble(Pass::medianNs).toArray()) / NANOS_PER_US,
                median(off.stream().mapToDouble(Pass::medianNs).toArray()) / NANOS_PER_US);
    }

    private static Pass pass(Path source, Path point, String search, int seed)
            throws IOException, InterruptedException {
        List<String> files =
                new ArrayList<>(IntStream.range(0, READS).mapToObj(i -> "f" + i).toList());
        Collections.shuffle(files, new Random(seed)); // which no framework does
        List<String> options = List.of("--index-rule", "sorted", "--memory", "1GiB", "--find-seed", search);
        try (MountedProcess mount = MountedProcess.start(source, point, options);
                ExecutorService readers = Executors.newFixedThreadPool(THREADS)) {
            long start = System.nanoTime();
            List<Future<double[]>> parts = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                List<String> part = files.subList(READS / THREADS * thread, READS / THREADS * (thread + 1));
                parts.add(readers.submit(() -> read(mount.point(), part)));
            }
            double[] all = {};
            for (Future<double[]> part : parts) {
                double[] ns = part.get();
                double[] both = Arrays.copyOf(all, all.length + ns.length);
                System.arraycopy(ns, 0, both, all.length, ns.length);
                all = both;
            }
            return new Pass(System.nanoTime() - start, median(all));
        } catch (ExecutionException e) {
            throw new IllegalStateException("a reader failed", e.getCause());
        }
    }

    private static double[] read(Path root, List<String> files) throws IOException {
        double[] ns = new double[files.size()];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(FILE_BYTES);
            for (int i = 0; i < ns.length; i++) {
                ns[i] = SampleFiles.read(root, files.get(i), buffer);
            }
        }
        return ns;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Formats the rows as a table. */
    public static String table(List<Row> rows) {
        StringBuilder text = new StringBuilder(String.format(
                "%-6s %7s %14s %14s %6s %14s %14s%n",
                "source", "rounds", "search on", "search off", "ratio", "a read, on", "a read, off"));
        for (Row row : rows) {
            text.append(String.format(
                    Locale.ROOT,
                    "%-6s %7d %11.1f ms %11.1f ms %6.3f %11.1f us %11.1f us%n",
                    row.source,
                    row.rounds,
                    row.onMs,
                    row.offMs,
                    row.ratio,
                    row.onUs,
                    row.offUs));
        }
        return text.toString();
    }
}
