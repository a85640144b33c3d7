package io.clairfs.tools.bench.wire;

import io.clairfs.tools.bench.MountedProcess;
import io.clairfs.tools.bench.SampleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures the times of mount, status and umount with a small dataset, and the daemon's CPU use while all samples are staged and nobody
 * reads.
 */
final class DaemonAtRest {
    private static final int FILES = 300;
    private static final long FILE_BYTES = 10_000;
    private static final int TIMES = 5;
    private static final long SETTLE_MS = 20_000;
    private static final long IDLE_S = 20;

    /** What a daemon does at rest is compiled in its first minute. */
    private static final long COMPILED_S = 60;

    private static final long LATER_S = 60;

    private DaemonAtRest() {}

    static List<WireRow> measure(Path work) throws IOException, InterruptedException {
        Path source = Files.createDirectories(work.resolve("source"));
        SampleFiles.make(source, "f", FILE_BYTES, FILES);
        Path point = Files.createDirectories(work.resolve("mount"));
        List<Double> mountS = new ArrayList<>();
        List<Double> statusS = new ArrayList<>();
        List<Double> umountS = new ArrayList<>();
        List<WireRow> rows = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            long start = System.nanoTime();
            try (MountedProcess mount = MountedProcess.start(source, point, List.of("--index-rule", "sorted"))) {
                mountS.add(seconds(start));
                start = System.nanoTime();
                MountedProcess.run(List.of("status", point.toString()));
                statusS.add(seconds(start));
                if (i == 0) {
                    rows.addAll(idle(mount));
                }
                start = System.nanoTime();
            }
            umountS.add(seconds(start));
        }
        rows.add(new WireRow("clairfs mount, " + FILES + " files", 0, 0, "s", Medians.of(mountS), Map.of()));
        rows.add(new WireRow("clairfs status", 0, 0, "s", Medians.of(statusS), Map.of()));
        rows.add(new WireRow("clairfs umount", 0, 0, "s", Medians.of(umountS), Map.of()));
        return rows;
    }

    /** The daemon's CPU use while all samples are staged and nobody reads: soon after its start, and when it has compiled what it does then. */
    private static List<WireRow> idle(MountedProcess mount) throws IOException, InterruptedException {
        mount.writeJob("seed=3 epochs=5 batch=8");
        mount.awaitStaged(FILES, TimeUnit.SECONDS.toMillis(60));
        TimeUnit.MILLISECONDS.sleep(SETTLE_MS);
        long pid = mount.status().path("pid").asLong();
        double soon = percent(pid, IDLE_S);
        TimeUnit.SECONDS.sleep(COMPILED_S - IDLE_S);
        return List.of(
                new WireRow("all staged, nobody reads", 0, 0, "% of a core", soon, Map.of()),
                new WireRow("the same, a minute later", 0, 0, "% of a core", percent(pid, LATER_S), Map.of()));
    }

    /** The part of a core that a process uses in the next {@code seconds}, percent. */
    private static double percent(long pid, long seconds) throws IOException, InterruptedException {
        long before = ProcessTime.of(pid).toMillis();
        TimeUnit.SECONDS.sleep(seconds);
        return (ProcessTime.of(pid).toMillis() - before) / 10.0 / seconds;
    }

    private static double seconds(long startNs) {
        return (System.nanoTime() - startNs) / 1e9;
    }
}
