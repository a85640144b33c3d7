package io.clairfs.tools.cli;

import io.clairfs.tools.bench.ReadBenchmark;
import io.clairfs.tools.bench.WorkDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import me.tongfei.progressbar.ProgressBar;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Side-by-side measurements on this machine. */
@Command(name = "bench", mixinStandardHelpOptions = true, description = "Measures on this machine, side by side.")
final class BenchCommand implements Runnable {
    private record Size(String name, long bytes, int files, int epochs, long stepUs) {}

    private static final List<Size> SIZES = List.of(
            new Size("1 KB", 1_000, 20_000, 2, 100),
            new Size("110 KB", 110_000, 8_000, 2, 400),
            new Size("16 MB", 16_000_000, 40, 5, 20_000));

    @picocli.CommandLine.Spec
    @SuppressWarnings("NullAway.Init")
    private picocli.CommandLine.Model.CommandSpec spec;

    @Override
    public void run() {
        throw new picocli.CommandLine.ParameterException(spec.commandLine(), "say what to measure: read");
    }

    @Command(
            name = "read",
            mixinStandardHelpOptions = true,
            description = "First reads through the mount beside warm reads of the same files in DIRECTORY.")
    int read(
            @Parameters(
                            paramLabel = "DIRECTORY",
                            defaultValue = ".",
                            description = "On the filesystem to compare with.")
                    Path directory,
            @Option(names = "--json", description = "As JSON.") boolean json,
            @Option(names = "--threads", split = ",", defaultValue = "1,2", description = "Default: ${DEFAULT-VALUE}.")
                    List<Integer> threads)
            throws IOException, InterruptedException {
        List<ReadBenchmark.Row> rows = new ArrayList<>();
        try (ProgressBar progress = Progress.bar("measuring", SIZES.size())) {
            for (Size size : SIZES) {
                progress.setExtraMessage(size.name);
                try (WorkDirectory work = WorkDirectory.in(directory)) {
                    rows.addAll(
                            ReadBenchmark.run(work.path(), size.bytes, size.files, size.epochs, threads, size.stepUs));
                }
                progress.step();
            }
        }
        System.out.print(
                json
                        ? JsonMapper.builder()
                                        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                                        .build()
                                        .writeValueAsString(rows)
                                + "\n"
                        : ReadBenchmark.table(rows));
        return Main.DONE;
    }
}
