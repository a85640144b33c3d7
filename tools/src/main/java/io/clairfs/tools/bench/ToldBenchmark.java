package io.clairfs.tools.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.fs.slow.SourceReads;
import io.clairfs.tools.ByteSize;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measures what a job costs or saves. A plain reader reads epochs through a mount with a job, through a mount without one, and from the
 * source directly.
 *
 * <p>One reader opens, reads to the end and closes one file after the other, without pauses. Nothing computes, so the time of an epoch is
 * that of its data. Memory holds a third of the dataset. The mount without a job begins each epoch without pages in the page cache, as with
 * a dataset larger than the machine's memory. The three follow one another in one run and read the same files in the same order.
 */
public final class ToldBenchmark {
    private static final String JOB = "told";
    private static final int EPOCHS = 2;
    private static final int MEMORY_PART = 3;
    private static final double NANOS_PER_SECOND = 1e9;

    private static final int FIRST_BATCH = 4;
    private static final long CELL_SECONDS = 4;
    private static final int MOST_FILES = 4000;
    private static final int FEWEST_FILES = 6;
    private static final long MOST_BYTES = 3_000_000_000L;

    private static final Duration LATENCY = Duration.ofMillis(1);

    /** Sample sizes, bytes. */
    public static final List<Long> SIZES = List.of(10_000L, 110_000L, 1_000_000L, 16_000_000L, 150_000_000L);

    /** Bandwidths of the source, bytes per second. */
    public static final List<Long> RATES = List.of(20_000_000L, 200_000_000L, 2_000_000_000L);

    public static final List<Integer> LOADERS = List.of(1, 4, 16, 64);

    /** A few large samples on a source of 60 MB/s. */
    public static final List<Cell> LARGE = List.of(
            new Cell(60_000_000, 24, 60_000_000, LATENCY, 0, FIRST_BATCH),
            new Cell(16_000_000, 30, 60_000_000, LATENCY, 0, FIRST_BATCH));

    private ToldBenchmark() {}

    /** Combines these sizes, rates and loaders. The number of samples makes an epoch take a few seconds. The longest cells come last. */
    public static List<Cell> grid(List<Long> sizes, List<Long> rates, List<Integer> loaderCounts) {
        List<Cell> cells = new ArrayList<>();
        for (long size : sizes) {
            for (long rate : rates) {
                long most = Math.min(MOST_BYTES, CELL_SECONDS * rate) / size;
                for (int loaders : loaderCounts) {
                    cells.add(new Cell(
                            size, Math.clamp(most, FEWEST_FILES, MOST_FILES), rate, LATENCY, loaders, FIRST_BATCH));
                }
            }
        }
        cells.sort(Comparator.comparingLong(cell -> cell.files * cell.fileBytes / cell.bytesPerSecond / CELL_SECONDS));
        return cells;
    }

    /**
     * One combination of parameters.
     *
     * @param fileBytes size of each sample, bytes
     * @param files samples
     * @param bytesPerSecond of the source, shared by all its readers
     * @param openLatency of the source
     * @param loaders of the mount; 0 is the default
     * @param batch files of the first batch
     */
    public record Cell(long fileBytes, int files, long bytesPerSecond, Duration openLatency, int loaders, int batch) {}

    /**
     * One line of the result. Times are in seconds.
     *
     * @param alone each epoch from the source directly
     * @param untold each epoch through the mount without a job
     * @param told each epoch through the mount with the job
     * @param worst the largest ratio of a told epoch to the corresponding untold one
     * @param firstBatchAlone time until the first batch is read from the source
     * @param firstBatchTold time from the write of the job until the first batch is read
     * @param sourceBytes read from the source by the mount with the job, until its end
     * @param boundBytes S + (E-1) (S-C)
     * @param lost staged samples that lost pages before they were read, in the mount with the job
     */
    public record Row(
            Cell cell,
            double[] alone,
            double[] untold,
            double[] told,
            double worst,
            double firstBatchAlone,
            double firstBatchTold,
            long sourceBytes,
            long boundBytes,
            long lost) {}

    /** One epoch: its time and that of its first batch. */
    private record Epoch(double seconds, double firstBatch) {}

    /**
     * Measures one cell.
     *
     * @param work an empty directory
     */
    public static Row run(Path work, Cell cell) throws IOException, InterruptedException {
        Path dataset = Files.createDirectories(work.resolve("dataset"));
        makeFiles(dataset, cell);
        long total = cell.fileBytes * cell.files;
        List<String> options =
                new ArrayList<>(List.of("--index-rule", "sorted", "--memory", total / MEMORY_PART + "B"));
        if (cell.loaders > 0) {
            options.addAll(List.of("--loaders", Integer.toString(cell.loaders)));
        }
        SlowSourceSpec spec = new SlowSourceSpec(cell.bytesPerSecond, cell.openLatency);
        Path point = Files.createDirectories(work.resolve("mount"));
        try (SlowMount source = SlowMount.mount(dataset, Files.createDirectories(work.resolve("source")), spec)) {
            List<List<String>> orders = new ArrayList<>();
            warmUp(source.point(), point, options, cell);
            SourceReads before = source.counted();
            LongAdder lost = new LongAdder();
            List<Epoch> told = told(source.point(), point, options, cell, orders, lost);
            long read = source.counted().since(before).bytes();
            List<Epoch> untold = untold(source.point(), point, options, cell, orders);
            List<Epoch> alone = new ArrayList<>();
            for (List<String> order : orders) {
                alone.add(read(source.point(), order, cell, System.nanoTime()));
            }
            double worst = 0;
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                worst = Math.max(worst, told.get(epoch).seconds / untold.get(epoch).seconds);
            }
            return new Row(
                    cell,
                    seconds(alone),
                    seconds(untold),
                    seconds(told),
                    worst,
                    alone.getFirst().firstBatch,
                    told.getFirst().firstBatch,
                    read,
                    total + (EPOCHS - 1) * (total - total / MEMORY_PART),
                    lost.sum());
        }
    }

    /**
     * A pass that does not count. The first one reads the files' pages from the disk, and on a virtual machine it is the first to touch memory
     * that the host has to give, at 12 us a page.
     */
    private static void warmUp(Path source, Path point, List<String> options, Cell cell)
            throws IOException, InterruptedException {
        List<String> files =
                IntStream.range(0, cell.files).mapToObj(i -> "f" + i).toList();
        List<Epoch> _ = untold(source, point, options, cell, List.of(files));
    }

    private static List<Epoch> told(
            Path source, Path point, List<String> options, Cell cell, List<List<String>> orders, LongAdder lost)
            throws IOException, InterruptedException {
        List<Epoch> epochs = new ArrayList<>();
        try (MountedProcess mount = MountedProcess.start(source, point, options)) {
            List<String> index = mount.index();
            long start = System.nanoTime();
            mount.writeJob("name=" + JOB + " seed=1 epochs=" + EPOCHS + " batch=" + cell.batch);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                orders.add(mount.order(JOB, epoch).stream()
                        .map(i -> index.get(Integer.parseInt(i)))
                        .toList());
                epochs.add(read(point, orders.get(epoch), cell, epoch == 0 ? start : System.nanoTime()));
            }
            lost.add(mount.status().at("/staging/lost").asLong());
        }
        return epochs;
    }

    private static List<Epoch> untold(
            Path source, Path point, List<String> options, Cell cell, List<List<String>> orders)
            throws IOException, InterruptedException {
        List<Epoch> epochs = new ArrayList<>();
        List<String> untold = new ArrayList<>(options);
        untold.addAll(List.of("--find-seed", "off"));
        try (MountedProcess mount = MountedProcess.start(source, point, untold)) {
            for (List<String> order : orders) {
                dropPages(mount.point(), order);
                epochs.add(read(mount.point(), order, cell, System.nanoTime()));
            }
        }
        return epochs;
    }

    private static double[] seconds(List<Epoch> epochs) {
        return epochs.stream().mapToDouble(Epoch::seconds).toArray();
    }

    /** Makes files without blocks. Their content does not matter here, and reads never wait for a disk. */
    private static void makeFiles(Path dataset, Cell cell) throws IOException {
        for (int i = 0; i < cell.files; i++) {
            try (RandomAccessFile file =
                    new RandomAccessFile(dataset.resolve("f" + i).toFile(), "rw")) {
                file.setLength(cell.fileBytes);
            }
        }
    }

    private static Epoch read(Path root, List<String> order, Cell cell, long start) throws IOException {
        double firstBatch = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Math.clamp(cell.fileBytes, 1, 1 << 20));
            for (int i = 0; i < order.size(); i++) {
                long read = readFile(root, order.get(i), buffer);
                if (read != cell.fileBytes) {
                    throw new IOException(order.get(i) + " has " + read + " bytes");
                }
                if (i + 1 == Math.min(cell.batch, order.size())) {
                    firstBatch = seconds(start);
                }
            }
        }
        return new Epoch(seconds(start), firstBatch);
    }

    private static long readFile(Path root, String file, MemorySegment buffer) throws IOException {
        int fd = Posix.openAt(Posix.AT_FDCWD, (root + "/" + file).getBytes(UTF_8), Posix.O_RDONLY);
        try {
            long at = 0;
            for (long n; (n = Posix.pread(fd, buffer, at)) > 0; ) {
                at += n;
            }
            return at;
        } finally {
            Posix.close(fd);
        }
    }

    private static void dropPages(Path root, List<String> files) throws IOException {
        for (String file : files) {
            int fd = Posix.openAt(Posix.AT_FDCWD, (root + "/" + file).getBytes(UTF_8), Posix.O_RDONLY);
            try {
                CachedPages.drop(fd);
            } finally {
                Posix.close(fd);
            }
        }
    }

    private static double seconds(long startNs) {
        return (System.nanoTime() - startNs) / NANOS_PER_SECOND;
    }

    /** The header of a table. */
    public static String head() {
        return String.format(
                "%10s %6s %10s %8s %10s %16s %16s %6s %16s %12s %5s",
                "file size",
                "files",
                "source",
                "loaders",
                "alone",
                "not told",
                "told",
                "worst",
                "first batch",
                "source/bound",
                "lost");
    }

    /** One line of a table. */
    public static String line(Row row) {
        Cell cell = row.cell;
        return String.format(
                Locale.ROOT,
                "%10s %6d %8s/s %8s %8.2f s %16s %16s %6.2f %7.2f, %5.2f s %12.3f %5d",
                ByteSize.show(cell.fileBytes),
                cell.files,
                ByteSize.show(cell.bytesPerSecond),
                cell.loaders == 0 ? "default" : Integer.toString(cell.loaders),
                row.alone[0],
                show(row.untold),
                show(row.told),
                row.worst,
                row.firstBatchAlone,
                row.firstBatchTold,
                (double) row.sourceBytes / row.boundBytes,
                row.lost);
    }

    private static String show(double[] seconds) {
        return Arrays.stream(seconds)
                        .mapToObj(each -> String.format(Locale.ROOT, "%.2f", each))
                        .collect(Collectors.joining(", "))
                + " s";
    }
}
