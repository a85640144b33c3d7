package io.clairfs.tools.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.prefetch.PrefetchSettings.Sharing;
import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Compares two ways to divide the loaders among ranks with unequal loads: by predicted load (Lobster, ICPP 2022, section 4.2), and the same
 * number for each.
 *
 * <p>Two ranks train at the same pace. One reads mostly samples that are in memory, the other mostly samples that are not. Rounds alternate
 * between the two ways, each on a fresh mount of the same slow source. The result is the time that each rank waited for data.
 */
public final class SharingBenchmark {
    private static final int STEPS = 50;
    private static final int BATCH = 16;
    private static final int HALF = STEPS * BATCH;
    private static final int FILES = 2 * HALF;
    private static final int FILE_BYTES = 110_000;
    private static final long COMPUTE_MS = 45;
    private static final int LOADERS = 8;
    private static final int ODD_ONES = 10;
    private static final SlowSourceSpec SOURCE = new SlowSourceSpec(400_000_000, Duration.ofMillis(20));
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long FILLED_TIMEOUT_S = 60;

    private final Path work;
    private final Path orders;
    private final SlowMount source;

    private SharingBenchmark(Path work, Path orders, SlowMount source) {
        this.work = work;
        this.orders = orders;
        this.source = source;
    }

    /**
     * One line of the result.
     *
     * @param waits seconds that rank 0, with most of its samples in memory, and rank 1 waited for data, medians over the rounds
     * @param slower the longer of each round's two waits, median
     */
    public record Row(String sharing, int rounds, double[] waits, double slower) {}

    /**
     * Measures {@code rounds} rounds of each way.
     *
     * @param work an empty directory
     * @param roundDone is called after each of the {@code 2 * rounds} rounds
     */
    public static List<Row> run(Path work, int rounds, Runnable roundDone) throws IOException, InterruptedException {
        Path dataset = Files.createDirectories(work.resolve("dataset"));
        makeFiles(dataset);
        Path orders = Files.createDirectories(work.resolve("orders"));
        writeOrders(orders);
        Map<Sharing, List<double[]>> waits = new EnumMap<>(Sharing.class);
        try (SlowMount source = SlowMount.mount(dataset, Files.createDirectories(work.resolve("source")), SOURCE)) {
            SharingBenchmark benchmark = new SharingBenchmark(work, orders, source);
            for (int round = 0; round < rounds; round++) {
                for (Sharing sharing : Sharing.values()) {
                    waits.computeIfAbsent(sharing, _ -> new ArrayList<>()).add(benchmark.round(sharing));
                    roundDone.run();
                }
            }
        }
        List<Row> rows = new ArrayList<>();
        waits.forEach((sharing, all) -> rows.add(new Row(
                sharing.name().toLowerCase(Locale.ROOT),
                rounds,
                new double[] {median(all, w -> w[0]), median(all, w -> w[1])},
                median(all, w -> Math.max(w[0], w[1])))));
        return rows;
    }

    private static void makeFiles(Path dataset) throws IOException {
        Random random = new Random(1);
        byte[] content = new byte[FILE_BYTES];
        for (int i = 0; i < FILES; i++) {
            random.nextBytes(content);
            Files.write(dataset.resolve(String.format(Locale.ROOT, "f%05d", i)), content);
        }
    }

    /**
     * Writes the orders of the ranks and of the job that fills memory with the first half of the samples. Each rank reads a few samples of
     * the other's half.
     */
    private static void writeOrders(Path orders) throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < STEPS * BATCH; i++) {
                boolean odd = i % ODD_ONES == 0;
                lines.append(i + (odd == (rank == 0) ? HALF : 0)).append('\n');
            }
            Files.writeString(orders.resolve(Integer.toString(rank)), lines);
        }
        StringBuilder first = new StringBuilder();
        for (int i = 0; i < HALF; i++) {
            first.append(i).append('\n');
        }
        Files.writeString(orders.resolve("memory"), first);
    }

    private double[] round(Sharing sharing) throws IOException, InterruptedException {
        Path point = Files.createDirectories(work.resolve("mount"));
        List<String> options = List.of(
                "--index-rule",
                "sorted",
                "--memory",
                (long) HALF * FILE_BYTES + "B",
                "--staging",
                4L * BATCH * FILE_BYTES + "B",
                "--loaders",
                Integer.toString(LOADERS),
                "--loader-sharing",
                sharing.name().toLowerCase(Locale.ROOT));
        try (MountedProcess mount = MountedProcess.start(source.point(), point, options);
                ExecutorService ranks = Executors.newFixedThreadPool(2)) {
            fillMemory(mount);
            mount.writeJob("name=ranks sampler=order-file file=" + orders
                    + "/{rank} epochs=1 world=2 ranks=0-1 workers=1 batch=" + BATCH);
            List<Future<Double>> waits = new ArrayList<>();
            List<String> index = mount.index();
            for (int rank = 0; rank < 2; rank++) {
                List<String> files = Files.readAllLines(orders.resolve(Integer.toString(rank)), UTF_8).stream()
                        .map(sample -> index.get(Integer.parseInt(sample)))
                        .toList();
                waits.add(ranks.submit(() -> train(point, files)));
            }
            return new double[] {seconds(waits.get(0)), seconds(waits.get(1))};
        }
    }

    private void fillMemory(MountedProcess mount) throws IOException, InterruptedException {
        mount.writeJob("name=fill sampler=order-file file=" + orders + "/memory epochs=1");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(FILLED_TIMEOUT_S);
        while (mount.status().at("/tiers/0/samples").asInt() < HALF) {
            if (System.nanoTime() > deadline) {
                throw new IOException("memory was not filled within " + FILLED_TIMEOUT_S + " s");
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        mount.writeJob("stop=fill");
    }

    /** Trains on these files, a batch at a time. Returns the seconds of waiting for data. */
    private static double train(Path point, List<String> files) throws IOException, InterruptedException {
        long waited = 0;
        for (int at = 0; at < files.size(); at += BATCH) {
            long start = System.nanoTime();
            for (String file : files.subList(at, at + BATCH)) {
                byte[] content = Files.readAllBytes(point.resolve(file));
                if (content.length != FILE_BYTES) {
                    throw new IOException(file + " has " + content.length + " bytes");
                }
            }
            waited += System.nanoTime() - start;
            TimeUnit.MILLISECONDS.sleep(COMPUTE_MS);
        }
        return waited / NANOS_PER_SECOND;
    }

    private static double seconds(Future<Double> wait) throws InterruptedException {
        try {
            return wait.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a rank failed", e.getCause());
        }
    }

    private static double median(List<double[]> rounds, java.util.function.ToDoubleFunction<double[]> value) {
        double[] sorted = rounds.stream().mapToDouble(value).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** Formats the rows as a table. */
    public static String table(List<Row> rows) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%d steps of %d samples and %d ms, %d loaders%n%10s %8s %22s %22s %14s%n",
                STEPS,
                BATCH,
                COMPUTE_MS,
                LOADERS,
                "sharing",
                "rounds",
                "rank 0 (in memory)",
                "rank 1 (not)",
                "slower rank"));
        for (Row row : rows) {
            text.append(String.format(
                    Locale.ROOT,
                    "%10s %8d %16.2f s wait %16.2f s wait %12.2f s%n",
                    row.sharing,
                    row.rounds,
                    row.waits[0],
                    row.waits[1],
                    row.slower));
        }
        double fixed = rows.getFirst().slower;
        double balanced = rows.getLast().slower;
        if (fixed == 0) {
            return text.append("no rank waits").append(System.lineSeparator()).toString();
        }
        double less = 100 * (fixed - balanced) / fixed;
        return text.append(String.format(
                        Locale.ROOT,
                        "the slower rank waits %.0f %% %s%n",
                        Math.abs(less),
                        less < 0 ? "longer" : "less"))
                .toString();
    }
}
