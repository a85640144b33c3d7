package io.clairfs.tools.bench.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.OpenParts;
import io.clairfs.tools.bench.MountedProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Compares the time of Python's walks through a tree of small files: on a fresh mount, and on the source with its names in the kernel's
 * cache.
 */
final class PythonWalk {
    private static final int PER_DIRECTORY = 1_000;
    private static final long TIMEOUT_S = 600;

    private static final String WALK = """
            for _, _, files in os.walk(sys.argv[1]):
                count += len(files)
            """;

    private static final String STAT = """
            for directory in os.scandir(sys.argv[1]):
                if directory.is_dir(follow_symlinks=False):
                    with os.scandir(directory.path) as entries:
                        for entry in entries:
                            entry.stat()
                            count += 1
            """;

    private PythonWalk() {}

    /** Microseconds per file: names alone, and names with the attributes of each file. */
    static List<WireRow> measure(Path work, int files) throws IOException, InterruptedException {
        Path source = Files.createDirectories(work.resolve("source"));
        for (int d = 0; d < Math.ceilDiv(files, PER_DIRECTORY); d++) {
            Path directory = Files.createDirectory(source.resolve("d" + d));
            for (int f = 0; f < Math.min(PER_DIRECTORY, files - d * PER_DIRECTORY); f++) {
                Files.createFile(directory.resolve("f" + f + ".jpg"));
            }
        }
        return List.of(row("os.walk, first", work, source, WALK), row("scandir and stat, first", work, source, STAT));
    }

    private static WireRow row(String what, Path work, Path source, String walk)
            throws IOException, InterruptedException {
        Path point = Files.createDirectories(work.resolve("mount"));
        python(source, walk);
        double own;
        try (MountedProcess mount = MountedProcess.start(source, point, List.of("--index-rule", "sorted"))) {
            while (!mount.status().path("ready").asBoolean()) {
                TimeUnit.MILLISECONDS.sleep(50);
            }
            own = python(mount.point(), walk);
        }
        Map<String, Double> beside = new LinkedHashMap<>();
        beside.put("local", python(source, walk));
        try (OpenParts parts = new OpenParts("the benchmark")) {
            for (OtherMount other : OtherMount.all(source, work, parts)) {
                beside.put(other.name(), python(other.point(), walk));
            }
        }
        return new WireRow(what, 0, 1, "us/file", own, beside);
    }

    private static double python(Path root, String walk) throws IOException, InterruptedException {
        String timed = """
                import os, sys, time
                start = time.perf_counter()
                count = 0
                %s
                print((time.perf_counter() - start) / count * 1e6)
                """.formatted(walk);
        Process process = new ProcessBuilder("python3", "-c", timed, root.toString())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("walking " + root + " failed: " + said);
        }
        return Double.parseDouble(said);
    }
}
