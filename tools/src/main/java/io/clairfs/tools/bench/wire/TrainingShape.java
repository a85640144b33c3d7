package io.clairfs.tools.bench.wire;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.tools.bench.MountedProcess;
import io.clairfs.tools.bench.SampleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A workload of MLPerf Storage (DLIO), made smaller. The size of a sample, batch, workers and the computation of a step are in proportion.
 * The source delivers a third of the trainer's rate.
 *
 * @param name the name of the workload
 * @param bytes of a sample
 * @param samples in the dataset
 */
record TrainingShape(String name, long bytes, int samples, TrainerLoop trainer) {
    private static final int EPOCHS = 4;
    private static final Duration OPEN_LATENCY = Duration.ofMillis(2);
    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");
    private static final String JOB = "shape";

    /**
     * Rows of accelerator utilisation, percent, beside that of the same trainer on the unthrottled files and on the slow source; and rows
     * of the bytes read from the source, as a ratio to the bound.
     */
    List<WireRow> measure(Path work) throws IOException, InterruptedException {
        Path data = Files.createDirectories(work.resolve("data"));
        SampleFiles.make(data, "f", bytes, samples);
        List<String> order = new ArrayList<>();
        for (int i = 0; i < samples; i++) {
            order.add("f" + i);
        }
        Collections.shuffle(order, new Random(3));
        trainer.utilisation(data, order, bytes); // loads the files from the disk
        double local = trainer.utilisation(data, order, bytes);
        double stepBytes = (double) trainer.batch() * bytes;
        long perSecond = (long) (stepBytes / trainer.stepNs() * 1e9 / 3);
        List<WireRow> rows = new ArrayList<>();
        try (SlowMount slow = SlowMount.mount(
                data, Files.createDirectories(work.resolve("slow")), new SlowSourceSpec(perSecond, OPEN_LATENCY))) {
            double direct = trainer.utilisation(slow.point(), order, bytes);
            Map<String, Double> beside = Map.of("local", local, "direct", direct);
            long all = bytes * samples;
            for (Way way : ways(all)) {
                Path point = Files.createDirectories(work.resolve("mount"));
                long before = slow.counted().bytes();
                List<Double> epochs = epochs(slow.point(), point, way, order);
                double bound = all + (EPOCHS - 1) * (double) Math.max(0, all - way.memory);
                add(rows, way.name + ", epoch 1", "% AU", epochs.getFirst(), beside);
                add(rows, way.name + ", later", "% AU", Medians.of(epochs.subList(1, EPOCHS)), beside);
                add(rows, way.name + ", source", "of bound", (slow.counted().bytes() - before) / bound, Map.of());
            }
        }
        return rows;
    }

    private void add(List<WireRow> rows, String what, String unit, double figure, Map<String, Double> beside) {
        rows.add(new WireRow(name + " " + what, bytes, trainer.workers(), unit, figure, beside));
    }

    /** One way to use the mount. */
    private record Way(String name, long memory, boolean told, boolean dropped) {}

    private static List<Way> ways(long all) {
        List<Way> ways = new ArrayList<>(List.of(
                new Way("told", all + all / 4, true, false),
                new Way("memory for a third", all / 3, true, false),
                new Way("not told", all + all / 4, false, false)));
        if (Files.isWritable(DROP_CACHES)) {
            ways.add(new Way("told, caches dropped", all + all / 4, true, true));
        }
        return ways;
    }

    private List<Double> epochs(Path source, Path point, Way way, List<String> untold)
            throws IOException, InterruptedException {
        List<Double> utilisations = new ArrayList<>();
        try (MountedProcess mount = MountedProcess.start(
                source, point, List.of("--index-rule", "sorted", "--memory", Long.toString(way.memory)))) {
            List<String> index = mount.index();
            if (way.told) {
                mount.writeJob("name=" + JOB + " seed=3 epochs=" + EPOCHS + " batch=" + trainer.batch() + " workers="
                        + trainer.workers());
            }
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                List<String> order = way.told
                        ? mount.order(JOB, epoch).stream()
                                .map(sample -> index.get(Integer.parseInt(sample)))
                                .toList()
                        : untold;
                if (way.dropped) {
                    Files.writeString(DROP_CACHES, "3", StandardOpenOption.WRITE);
                }
                utilisations.add(trainer.utilisation(point, order, bytes));
            }
        }
        return utilisations;
    }
}
