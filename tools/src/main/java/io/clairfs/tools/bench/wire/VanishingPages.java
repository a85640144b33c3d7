package io.clairfs.tools.bench.wire;

import io.clairfs.tools.bench.MountedProcess;
import io.clairfs.tools.bench.SampleFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;

/** A trainer that reads 500 samples per second, all in the daemon's memory, while the kernel's caches are dropped every two seconds. */
final class VanishingPages {
    private static final int FILES = 4_000;
    private static final long FILE_BYTES = 110_000;
    private static final int EPOCHS = 4;
    private static final long SAMPLE_NS = TimeUnit.SECONDS.toNanos(1) / 500;
    private static final long DROP_NS = TimeUnit.SECONDS.toNanos(2);
    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");
    private static final String JOB = "vanish";

    private VanishingPages() {}

    /** Rows of the requests and the longest wait from the second epoch on. There are none if this user may not drop caches. */
    static List<WireRow> measure(Path work) throws IOException, InterruptedException {
        if (!Files.isWritable(DROP_CACHES)) {
            return List.of();
        }
        Path source = Files.createDirectories(work.resolve("source"));
        SampleFiles.make(source, "f", FILE_BYTES, FILES);
        Path point = Files.createDirectories(work.resolve("mount"));
        try (MountedProcess mount = MountedProcess.start(
                        source,
                        point,
                        List.of("--index-rule", "sorted", "--memory", Long.toString(2 * FILES * FILE_BYTES)));
                Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(FILE_BYTES);
            mount.writeJob("name=" + JOB + " seed=3 epochs=" + EPOCHS + " batch=32");
            List<String> index = mount.index();
            long longest = 0;
            JsonNode before = mount.status();
            long nextDrop = Long.MAX_VALUE;
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                if (epoch == 1) {
                    before = mount.status();
                    nextDrop = System.nanoTime();
                    longest = 0;
                }
                long next = System.nanoTime();
                for (String sample : mount.order(JOB, epoch)) {
                    if (System.nanoTime() > nextDrop) {
                        Files.writeString(DROP_CACHES, "3", StandardOpenOption.WRITE);
                        nextDrop = System.nanoTime() + DROP_NS;
                        next = System.nanoTime();
                    }
                    longest = Math.max(longest, SampleFiles.read(point, index.get(Integer.parseInt(sample)), buffer));
                    next += SAMPLE_NS;
                    LockSupport.parkNanos(next - System.nanoTime());
                }
            }
            JsonNode after = mount.status();
            int reads = (EPOCHS - 1) * FILES;
            String what = "caches dropped every 2 s";
            return List.of(
                    row(what + ", asked", "% of reads", 100 * grown(before, after, "/reads/upcalls") / reads),
                    row(
                            what + ", of source",
                            "% of reads",
                            100 * grown(before, after, "/fetched/source/count") / reads),
                    row(what + ", longest", "ms", longest / 1e6));
        }
    }

    private static WireRow row(String what, String unit, double figure) {
        return new WireRow(what, FILE_BYTES, 1, unit, figure, Map.of());
    }

    private static double grown(JsonNode before, JsonNode after, String field) {
        return after.at(field).asDouble() - before.at(field).asDouble();
    }
}
