package io.clairfs.tools.bench.wire;

import io.clairfs.tools.OpenParts;
import io.clairfs.tools.bench.MountedProcess;
import io.clairfs.tools.bench.SampleFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * First reads of files that are not staged, because there is no job. Each file is read once through each mount, in alternating batches,
 * while the source's files are in the page cache. The first quarter of the files is read by a daemon that has just started, the last half
 * by a daemon whose code is compiled.
 */
final class UnstagedReads {
    private static final int BATCHES = 20;

    private static final String OWN = "clairfs";

    private UnstagedReads() {}

    /** Microseconds per file, medians, with {@code readers} readers at once. */
    static List<WireRow> measure(Path work, long fileBytes, int files, int readers)
            throws IOException, InterruptedException {
        Path source = Files.createDirectories(work.resolve("source"));
        SampleFiles.make(source, "f", fileBytes, files);
        Path point = Files.createDirectories(work.resolve("mount"));
        Map<String, List<Long>> ns = new LinkedHashMap<>();
        try (OpenParts parts = new OpenParts("the benchmark");
                MountedProcess mount =
                        MountedProcess.start(source, point, List.of("--index-rule", "sorted", "--find-seed", "off"));
                ExecutorService threads = Executors.newFixedThreadPool(readers)) {
            Map<String, Path> roots = new LinkedHashMap<>();
            roots.put("local", source);
            roots.put(OWN, mount.point());
            OtherMount.all(source, work, parts).forEach(other -> roots.put(other.name(), other.point()));
            read(threads, source, 0, files, readers); // loads the files from the disk
            int batch = Math.max(readers, files / BATCHES);
            for (int from = 0, turn = 0; from < files; from += batch, turn++) {
                List<String> names = new ArrayList<>(roots.keySet());
                Collections.rotate(names, turn);
                for (String name : names) {
                    ns.computeIfAbsent(name, _ -> new ArrayList<>())
                            .addAll(read(
                                    threads,
                                    Objects.requireNonNull(roots.get(name)),
                                    from,
                                    Math.min(files, from + batch),
                                    readers));
                }
            }
        }
        return List.of(
                row("not staged, daemon just started", fileBytes, readers, ns, 0, files / 4),
                row("not staged", fileBytes, readers, ns, files / 2, files));
    }

    private static WireRow row(String what, long fileBytes, int readers, Map<String, List<Long>> ns, int from, int to) {
        Map<String, Double> us = new LinkedHashMap<>();
        ns.forEach((name, times) -> us.put(name, Medians.of(times.subList(from, to)) / 1e3));
        double own = Objects.requireNonNull(us.remove(OWN));
        return new WireRow(what, fileBytes, readers, "us/file", own, us);
    }

    private static List<Long> read(ExecutorService threads, Path root, int from, int to, int readers)
            throws InterruptedException {
        List<Future<List<Long>>> parts = new ArrayList<>();
        for (int reader = 0; reader < readers; reader++) {
            int first = from + reader;
            parts.add(threads.submit(() -> {
                List<Long> times = new ArrayList<>();
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment buffer = arena.allocate(Files.size(root.resolve("f" + from)));
                    for (int file = first; file < to; file += readers) {
                        times.add(SampleFiles.read(root, "f" + file, buffer));
                    }
                }
                return times;
            }));
        }
        List<Long> times = new ArrayList<>();
        for (Future<List<Long>> part : parts) {
            try {
                times.addAll(part.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("a reader failed", e.getCause());
            }
        }
        return times;
    }
}
