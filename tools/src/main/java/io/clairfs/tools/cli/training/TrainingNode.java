package io.clairfs.tools.cli.training;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import io.clairfs.tools.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** One mount of the training, in this process, and a reader of it. */
final class TrainingNode {
    private static final long PATIENCE_MS = 15_000;
    private static final long STEP_MS = 20;

    private final Path mount;
    private final Thread daemon;

    private TrainingNode(Path mount, Thread daemon) {
        this.mount = mount;
        this.daemon = daemon;
    }

    /** Begins to mount {@code source} at {@code mount}, an empty directory. */
    static TrainingNode start(Path source, Path mount, List<String> options) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("mount", source.toString(), Files.createDirectory(mount).toString(), "--foreground"));
        arguments.addAll(options);
        Thread daemon = Thread.ofPlatform()
                .daemon()
                .name("training-" + mount.getFileName())
                .start(() -> {
                    int _ = Main.run(arguments.toArray(String[]::new));
                });
        return new TrainingNode(mount, daemon);
    }

    /** Waits until it is mounted. Returns false if it cannot be, or takes too long. */
    boolean awaitMounted() throws InterruptedException {
        Path ready = mount.resolve(".clairfs/status.json");
        for (long waited = 0; waited < PATIENCE_MS && daemon.isAlive() && !Files.exists(ready); waited += STEP_MS) {
            TimeUnit.MILLISECONDS.sleep(STEP_MS);
        }
        return Files.exists(ready);
    }

    /** Its mount point. */
    Path point() {
        return mount;
    }

    /** Reads every file that the mount shows once, its control files too. */
    void readAll() throws IOException {
        try (Stream<Path> all = Files.walk(mount)) {
            for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                byte[] _ = Files.readAllBytes(file);
            }
        }
    }

    /** The samples in the order of the index. */
    private List<Path> samples() throws IOException {
        return Files.readAllLines(mount.resolve(".clairfs/index")).stream()
                .map(mount::resolve)
                .toList();
    }

    /**
     * Reads samples from the daemon each time, because their pages are dropped after each read.
     *
     * @param reads how many, the first of them that of sample {@code first}
     * @param longestMs when to end at the latest
     */
    void readAgain(int first, int reads, long longestMs) throws IOException {
        List<Path> samples = samples();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(longestMs);
        for (int read = 0; read < reads && System.nanoTime() < end; read++) {
            Path sample = samples.get((first + read) % samples.size());
            byte[] _ = Files.readAllBytes(sample);
            int fd = Posix.openAt(Posix.AT_FDCWD, sample.toString().getBytes(UTF_8), Posix.O_RDONLY);
            try {
                CachedPages.drop(fd);
            } finally {
                Posix.close(fd);
            }
        }
    }

    /** Reads what a rank reads in an epoch of a job, in its order. */
    void readEpoch(String job, int epoch, int rank) throws IOException {
        List<Path> samples = samples();
        Path order = mount.resolve(".clairfs/order").resolve(job).resolve(epoch + "/" + rank);
        for (String sample : Files.readAllLines(order)) {
            byte[] _ = Files.readAllBytes(samples.get(Integer.parseInt(sample)));
        }
    }

    /** Runs a command about the mount, {@code words} and its mount point, with {@code further} behind that; what comes of it does not matter. */
    void run(List<String> words, String... further) {
        List<String> arguments = new ArrayList<>(words);
        arguments.add(mount.toString());
        arguments.addAll(List.of(further));
        int _ = Main.run(arguments.toArray(String[]::new));
    }
}
