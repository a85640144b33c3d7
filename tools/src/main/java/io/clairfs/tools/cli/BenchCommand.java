package io.clairfs.tools.cli;

import io.clairfs.tools.ByteSize;
import io.clairfs.tools.Progress;
import io.clairfs.tools.bench.FirstReadsBenchmark;
import io.clairfs.tools.bench.PipelineBenchmark;
import io.clairfs.tools.bench.ReadBenchmark;
import io.clairfs.tools.bench.SharingBenchmark;
import io.clairfs.tools.bench.ToldBenchmark;
import io.clairfs.tools.bench.wire.WireBenchmark;
import io.clairfs.tools.bench.wire.WireRow;
import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Runs side-by-side measurements on this machine. */
@Command(name = "bench", mixinStandardHelpOptions = true, description = "Measures on this machine, side by side.")
final class BenchCommand implements Runnable {
    private record Size(long bytes, int files, int batch, long stepUs) {}

    private static final int EPOCHS = 2;
    private static final int MOST_THREADS = 64;
    private static final String ONE_ROUND = "--rounds must be at least 1";
    private static final List<Size> SIZES = List.of(
            new Size(1_000, 30_000, 32, 50), new Size(110_000, 16_000, 32, 150), new Size(16_000_000, 110, 4, 20_000));

    @picocli.CommandLine.Spec
    @SuppressWarnings("NullAway.Init")
    private picocli.CommandLine.Model.CommandSpec spec;

    @Override
    public void run() {
        throw new picocli.CommandLine.ParameterException(
                spec.commandLine(), "say what to measure: read, sharing, told, untold, wire or pipeline");
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new picocli.CommandLine.ParameterException(spec.commandLine(), otherwise);
        }
    }

    @Command(
            name = "read",
            mixinStandardHelpOptions = true,
            description = "First reads through the mount beside warm reads of the same files in DIRECTORY.")
    int read(
            @Parameters(
                            paramLabel = "DIRECTORY",
                            defaultValue = ".",
                            description = "A directory on the filesystem to compare with.")
                    Path directory,
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(names = "--threads", split = ",", defaultValue = "1,2", description = "Default: ${DEFAULT-VALUE}.")
                    List<Integer> threads)
            throws IOException, InterruptedException {
        require(
                threads.stream().allMatch(each -> each >= 1 && each <= MOST_THREADS),
                "--threads must be 1 to " + MOST_THREADS);
        List<ReadBenchmark.Row> rows = new ArrayList<>();
        int measured = 0;
        try (Progress progress = Progress.begin("measuring", SIZES.size())) {
            for (Size size : SIZES) {
                progress.note(ByteSize.show(size.bytes));
                try (Scratch work = Scratch.in(directory)) {
                    rows.addAll(ReadBenchmark.run(
                            work.directory(), size.bytes, size.files, size.batch, EPOCHS, threads, size.stepUs));
                }
                progress.at(++measured);
            }
        }
        System.out.print(json ? json(rows) : ReadBenchmark.table(rows));
        return Main.DONE;
    }

    @Command(
            name = "sharing",
            mixinStandardHelpOptions = true,
            description = "Loaders assigned by predicted load, beside equal shares.")
    int sharing(
            @Parameters(paramLabel = "DIRECTORY", defaultValue = ".", description = "For the files of the measurement.")
                    Path directory,
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(names = "--rounds", defaultValue = "3", description = "Rounds of each (default: ${DEFAULT-VALUE}).")
                    int rounds)
            throws IOException, InterruptedException {
        require(rounds >= 1, ONE_ROUND);
        List<SharingBenchmark.Row> rows;
        AtomicInteger done = new AtomicInteger();
        try (Scratch work = Scratch.in(directory);
                Progress progress = Progress.begin("measuring", 2L * rounds)) {
            rows = SharingBenchmark.run(work.directory(), rounds, () -> progress.at(done.incrementAndGet()));
        }
        System.out.print(json ? json(rows) : SharingBenchmark.table(rows));
        return Main.DONE;
    }

    @Command(
            name = "told",
            mixinStandardHelpOptions = true,
            description = "Epochs over a slow source: with a job, without one, and without clairfs.")
    int told(
            @Parameters(paramLabel = "DIRECTORY", defaultValue = ".", description = "For the files of the measurement.")
                    Path directory,
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(names = "--large", description = "Two cases of few large samples instead of the table.")
                    boolean large,
            @Option(
                            names = "--sizes",
                            split = ",",
                            description = "Sample sizes, such as 110KB,16MB (default: from 10 KB to 150 MB).")
                    @Nullable
                    List<ByteSize> sizes,
            @Option(
                            names = "--sources",
                            split = ",",
                            description = "Rates of the source, bytes per second (default: 20 MB to 2 GB).")
                    @Nullable
                    List<ByteSize> sources,
            @Option(names = "--loaders", split = ",", description = "Loaders of the mount (default: 1,4,16,64).")
                    @Nullable
                    List<Integer> loaders)
            throws IOException, InterruptedException {
        require(
                !large || (sizes == null && sources == null && loaders == null),
                "--large has cases of its own: it takes no --sizes, --sources or --loaders");
        List<ToldBenchmark.Cell> cells = large
                ? ToldBenchmark.LARGE
                : ToldBenchmark.grid(
                        positive("--sizes", bytes(sizes), ToldBenchmark.SIZES),
                        positive("--sources", bytes(sources), ToldBenchmark.RATES),
                        positive("--loaders", loaders, ToldBenchmark.LOADERS));
        List<ToldBenchmark.Row> rows = new ArrayList<>();
        if (!json) {
            System.out.println(ToldBenchmark.head());
        }
        try (Progress progress = Progress.begin("measuring", cells.size())) {
            for (ToldBenchmark.Cell cell : cells) {
                progress.note(ByteSize.show(cell.fileBytes()));
                try (Scratch work = Scratch.in(directory)) {
                    rows.add(ToldBenchmark.run(work.directory(), cell));
                }
                if (!json) { // each row at once: the whole takes three quarters of an hour
                    progress.clear();
                    System.out.println(ToldBenchmark.line(rows.getLast()));
                }
                progress.at(rows.size());
            }
        }
        if (json) {
            System.out.print(json(rows));
        }
        return Main.DONE;
    }

    @Command(
            name = "untold",
            mixinStandardHelpOptions = true,
            description = "First reads of an order that no search finds, with the search for the seed and without.")
    int untold(
            @Parameters(paramLabel = "DIRECTORY", defaultValue = ".", description = "For the files of the measurement.")
                    Path directory,
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(names = "--rounds", defaultValue = "7", description = "Rounds of each (default: ${DEFAULT-VALUE}).")
                    int rounds)
            throws IOException, InterruptedException {
        require(rounds >= 1, ONE_ROUND);
        List<FirstReadsBenchmark.Row> rows;
        AtomicInteger done = new AtomicInteger();
        try (Scratch work = Scratch.in(directory);
                Progress progress = Progress.begin("measuring", 2L * rounds)) {
            rows = FirstReadsBenchmark.run(work.directory(), rounds, () -> progress.at(done.incrementAndGet()));
        }
        System.out.print(json ? json(rows) : FirstReadsBenchmark.table(rows));
        return Main.DONE;
    }

    @Command(
            name = "wire",
            mixinStandardHelpOptions = true,
            description = "Every path through the mount, beside bindfs and mergerfs where installed.")
    int wire(
            @Parameters(
                            paramLabel = "DIRECTORY",
                            defaultValue = ".",
                            description = "A directory on the filesystem to compare with.")
                    Path directory,
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(
                            names = "--part",
                            description =
                                    "One part alone: 1 to 9 (reads of 1 KB, 110 KB, 16 MB; no pauses, the same with room"
                                            + " for all; a walk; at rest; pages that vanish; workloads of DLIO).")
                    @Nullable
                    Integer part)
            throws IOException, InterruptedException {
        require(
                part == null || (part >= 1 && part <= WireBenchmark.parts()),
                "--part must be 1 to " + WireBenchmark.parts());
        int first = part == null ? 0 : part - 1;
        int end = part == null ? WireBenchmark.parts() : part;
        List<WireRow> rows = new ArrayList<>();
        if (!json) {
            System.out.print(WireBenchmark.head());
        }
        try (Progress progress = Progress.begin("measuring", end - first)) {
            for (int at = first; at < end; at++) {
                progress.note(WireBenchmark.name(at));
                rows.addAll(WireBenchmark.run(directory, at, row -> {
                    if (!json) {
                        progress.clear();
                        System.out.print(WireBenchmark.line(row));
                    }
                }));
                progress.at(at + 1 - first);
            }
        }
        if (json) {
            System.out.print(json(rows));
        }
        return Main.DONE;
    }

    @Command(
            name = "pipeline",
            mixinStandardHelpOptions = true,
            description = "One pool that loads and decodes: a split that moves with the load, beside all fixed ones.")
    int pipeline(
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(
                            names = "--threads",
                            defaultValue = "8",
                            description = "Threads of the pool, 4 to 64 (default: ${DEFAULT-VALUE}).")
                    int threads,
            @Option(
                            names = "--batches",
                            defaultValue = "200",
                            description = "Batches of each run (default: ${DEFAULT-VALUE}).")
                    int batches,
            @Option(names = "--rounds", defaultValue = "3", description = "Rounds of each (default: ${DEFAULT-VALUE}).")
                    int rounds)
            throws InterruptedException {
        require(
                threads >= 4 && threads <= 64 && batches >= 1 && rounds >= 1,
                "--threads must be 4 to 64, --batches and --rounds at least 1");
        List<PipelineBenchmark.Row> rows;
        AtomicInteger done = new AtomicInteger();
        try (Progress progress = Progress.begin("measuring", PipelineBenchmark.steps(threads, rounds))) {
            rows = PipelineBenchmark.run(threads, batches, rounds, () -> progress.at(done.incrementAndGet()));
        }
        System.out.print(json ? json(rows) : PipelineBenchmark.table(rows));
        return Main.DONE;
    }

    private static @Nullable List<Long> bytes(@Nullable List<ByteSize> sizes) {
        return sizes == null ? null : sizes.stream().map(ByteSize::bytes).toList();
    }

    private <N extends Number> List<N> positive(String option, @Nullable List<N> given, List<N> usual) {
        if (given != null && given.stream().anyMatch(n -> n.longValue() <= 0)) {
            throw new picocli.CommandLine.ParameterException(spec.commandLine(), option + " takes numbers above 0");
        }
        return given == null ? usual : given;
    }

    private static String json(List<?> rows) {
        return JsonMapper.builder()
                        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                        .build()
                        .writeValueAsString(rows)
                + "\n";
    }
}
