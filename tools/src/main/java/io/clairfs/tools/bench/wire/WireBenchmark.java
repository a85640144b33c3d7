package io.clairfs.tools.bench.wire;

import io.clairfs.tools.ByteSize;
import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Runs the parts of the benchmark, each with its own files. */
public final class WireBenchmark {
    private static final List<Part> PARTS = List.of(
            new Part("reads of 1 KB", List.of(readsOf(1_000, 16_000, 1), readsOf(1_000, 16_000, 4))),
            new Part("reads of 110 KB", List.of(readsOf(110_000, 8_000, 1), readsOf(110_000, 8_000, 4))),
            new Part("reads of 16 MB", List.of(readsOf(16_000_000, 80, 1), readsOf(16_000_000, 80, 4))),
            new Part(
                    "no pauses",
                    List.of(
                            work -> PauselessTrainer.measure(work, 110_000, 16_000, 1, new ByteSize(256 << 20)),
                            work -> PauselessTrainer.measure(work, 110_000, 16_000, 2, new ByteSize(256 << 20)))),
            new Part(
                    "no pauses, room for all",
                    List.of(
                            work -> PauselessTrainer.measure(work, 110_000, 16_000, 1, new ByteSize(3L << 30)),
                            work -> PauselessTrainer.measure(work, 110_000, 16_000, 2, new ByteSize(3L << 30)))),
            new Part("a walk", List.of(work -> PythonWalk.measure(work, 128_000))),
            new Part("at rest", List.of(DaemonAtRest::measure)),
            new Part("pages that vanish", List.of(VanishingPages::measure)),
            new Part(
                    "workloads of DLIO",
                    List.of(
                            shape("retinanet", 322_957, 960, 24, 2, 47_550_000),
                            shape("cosmoflow", 2_830_000, 160, 1, 4, 5_510_000),
                            shape("unet3d", 100_000_000, 16, 2, 4, 250_000_000))));

    private WireBenchmark() {}

    @FunctionalInterface
    private interface Measurement {
        List<WireRow> in(Path work) throws IOException, InterruptedException;
    }

    private record Part(String name, List<Measurement> measurements) {}

    private static Measurement readsOf(long bytes, int files, int readers) {
        return work -> UnstagedReads.measure(work, bytes, files, readers);
    }

    private static Measurement shape(String name, long bytes, int samples, int batch, int workers, long stepNs) {
        return new TrainingShape(name, bytes, samples, new TrainerLoop(batch, workers, stepNs))::measure;
    }

    /** The number of parts. */
    public static int parts() {
        return PARTS.size();
    }

    /** The name of a part. */
    public static String name(int part) {
        return PARTS.get(part).name;
    }

    /**
     * Measures one part.
     *
     * @param directory on the filesystem to compare with; nothing is left there
     * @param each receives the rows of each measurement
     */
    public static List<WireRow> run(Path directory, int part, Consumer<WireRow> each)
            throws IOException, InterruptedException {
        List<WireRow> rows = new ArrayList<>();
        for (Measurement measurement : PARTS.get(part).measurements) {
            try (Scratch work = Scratch.in(directory)) {
                List<WireRow> fresh = measurement.in(work.directory());
                fresh.forEach(each);
                rows.addAll(fresh);
            }
        }
        return rows;
    }

    /** The header above the rows. */
    public static String head() {
        return String.format("%-38s %8s %7s %10s %-12s  %s%n", "", "file", "readers", "clairfs", "", "beside (ratio)");
    }

    /** A row as text for people. */
    public static String line(WireRow row) {
        return row.line(row.fileBytes() == 0 ? "" : ByteSize.show(row.fileBytes()));
    }
}
