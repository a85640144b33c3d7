package io.clairfs.tools.bench.wire;

import io.clairfs.tools.ByteSize;
import io.clairfs.tools.bench.MountedProcess;
import io.clairfs.tools.bench.SampleFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/**
 * A trainer that only reads, in the order of its job, with all samples in the daemon's memory. Epochs through the mount alternate with warm
 * epochs of the source.
 */
final class PauselessTrainer {
    private static final int EPOCHS = 24;

    /** Those before fill memory, and have the daemon compiled. */
    private static final int FIRST_MEASURED = 12;

    private static final int BATCH = 32;

    /** Batches in flight for each reader, the default of PyTorch's DataLoader. */
    private static final int PREFETCH_FACTOR = 2;

    private static final long SETTLE_MS = 2_000;

    private PauselessTrainer() {}

    /** Rows of samples per second, and of the daemon's CPU time, fetches and requests per sample. */
    static List<WireRow> measure(Path work, long fileBytes, int files, int readers, ByteSize staging)
            throws IOException, InterruptedException {
        Path source = Files.createDirectories(work.resolve("source"));
        SampleFiles.make(source, "f", fileBytes, files);
        Path point = Files.createDirectories(work.resolve("mount"));
        long memory = 2 * fileBytes * files;
        List<Double> own = new ArrayList<>();
        List<Double> local = new ArrayList<>();
        List<Double> cpuUs = new ArrayList<>();
        List<Double> fetches = new ArrayList<>();
        List<Double> requests = new ArrayList<>();
        try (MountedProcess mount = MountedProcess.start(
                        source,
                        point,
                        List.of("--index-rule", "sorted", "--memory", memory + "", "--staging", staging.bytes() + ""));
                ExecutorService threads = Executors.newFixedThreadPool(readers)) {
            mount.writeJob("name=wire seed=3 epochs=" + EPOCHS + " batch=" + BATCH + " workers=" + readers);
            List<String> index = mount.index();
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                List<String> order = mount.order("wire", epoch).stream()
                        .map(i -> index.get(Integer.parseInt(i)))
                        .toList();
                read(threads, source, order, readers, fileBytes);
                double localRate = read(threads, source, order, readers, fileBytes);
                TimeUnit.MILLISECONDS.sleep(SETTLE_MS);
                JsonNode before = mount.status();
                long pid = before.path("pid").asLong();
                long cpuBefore = ProcessTime.liveThreadsNs(pid);
                double rate = read(threads, mount.point(), order, readers, fileBytes);
                long cpuNs = ProcessTime.liveThreadsNs(pid) - cpuBefore; // without what the status takes
                JsonNode after = mount.status();
                if (epoch >= FIRST_MEASURED) {
                    own.add(rate);
                    local.add(localRate);
                    cpuUs.add(cpuNs / 1e3 / files);
                    fetches.add((fetched(after) - fetched(before)) / files);
                    requests.add(difference(before, after, "/reads/upcalls") / files);
                }
            }
        }
        String what = "no pauses, staging " + ByteSize.show(staging.bytes());
        return List.of(
                new WireRow(what, fileBytes, readers, "samples/s", Medians.of(own), Map.of("local", Medians.of(local))),
                new WireRow(what + ", daemon", fileBytes, readers, "us/sample", Medians.of(cpuUs), Map.of()),
                new WireRow(what + ", fetches", fileBytes, readers, "per read", Medians.of(fetches), Map.of()),
                new WireRow(what + ", asked", fileBytes, readers, "per read", Medians.of(requests), Map.of()));
    }

    private static double fetched(JsonNode status) {
        double sum = 0;
        for (JsonNode count : status.path("fetched")) {
            sum += count.path("count").asDouble();
        }
        return sum;
    }

    private static double difference(JsonNode before, JsonNode after, String field) {
        return after.at(field).asDouble() - before.at(field).asDouble();
    }

    /**
     * Returns samples per second. Readers take batches in turns, and none is further ahead of the slowest than a DataLoader with as many
     * workers lets it be.
     */
    private static double read(ExecutorService threads, Path root, List<String> order, int readers, long fileBytes)
            throws InterruptedException {
        List<Future<?>> parts = new ArrayList<>();
        BatchesAhead ahead = new BatchesAhead(PREFETCH_FACTOR * readers);
        long start = System.nanoTime();
        for (int reader = 0; reader < readers; reader++) {
            int first = reader;
            parts.add(threads.submit(() -> {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment buffer = arena.allocate(fileBytes);
                    for (int batch = first; batch * BATCH < order.size(); batch += readers) {
                        ahead.begin(batch);
                        for (String file : order.subList(batch * BATCH, Math.min(order.size(), (batch + 1) * BATCH))) {
                            SampleFiles.read(root, file, buffer);
                        }
                        ahead.end(batch);
                    }
                }
                return null;
            }));
        }
        for (Future<?> part : parts) {
            try {
                part.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("a reader failed", e.getCause());
            }
        }
        return order.size() * 1e9 / (System.nanoTime() - start);
    }
}
