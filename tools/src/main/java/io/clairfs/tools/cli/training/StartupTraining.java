package io.clairfs.tools.cli.training;

import io.clairfs.tools.cli.Main;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs the commands once, so that a recording JVM ({@code -XX:AOTCacheOutput}) writes a cache with which later JVMs start in half the time.
 * It mounts a small dataset as a group of two, reads it without and with a job, from the source, memory, an SSD and the other node, and
 * shows the status. If it cannot mount, it only computes an order.
 *
 * <p>It reads the dataset thousands of times. The cache also keeps profiles, which the compiler would otherwise collect during the first
 * thousands of reads of each mount.
 */
public final class StartupTraining {
    /** More than {@link #STAGING} holds, so that samples are staged in every epoch. */
    private static final int FILES = 400;

    private static final int FILE_BYTES = 5_000;
    private static final String STAGING = "--staging=1MiB";
    private static final int READS = 6_000;
    private static final int EPOCHS = 20;

    /** So many read from the source at once, for each waits for it. */
    private static final int READERS = 8;

    /** The job that one node reads alone, and not to its end. */
    private static final String ALONE = "alone";

    /** A file of the dataset. */
    static final String SAMPLE = "class0/0.jpg";

    private static final long READ_MS = 8_000;
    private static final long LONGEST_MS = 30_000;
    private static final long LONGEST_RECORDING_MS = 60_000;
    private static final String LOOPBACK = "127.0.0.1";

    private StartupTraining() {}

    /**
     * Takes an empty directory for the dataset and the mounts; where half a minute is too little, after how many seconds a watchdog halts
     * the run; and a command that is run at the end with a mount point behind it, one that records short commands ({@link CommandTraining}).
     * The directory's content may be deleted afterwards. Exits with 0.
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        long longestMs = arguments.length > 1 ? TimeUnit.SECONDS.toMillis(Long.parseLong(arguments[1])) : LONGEST_MS;
        Thread.ofPlatform().daemon().name("training-watch").start(() -> endLate(longestMs));
        int _ = Main.run("order", "--samples", "3", "--seed", "1");
        train(Path.of(arguments[0]), List.of(arguments).subList(Math.min(arguments.length, 2), arguments.length));
        System.exit(Main.DONE);
    }

    private static void endLate(long longestMs) {
        try {
            TimeUnit.MILLISECONDS.sleep(longestMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(Main.FAILED);
    }

    private static void train(Path directory, List<String> recorder) throws IOException, InterruptedException {
        try (TrainingSource source = TrainingSource.of(makeDataset(directory), directory.resolve("source"))) {
            Path secret = Files.writeString(directory.resolve("secret"), "only for this training, and for no group");
            Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
            String first = LOOPBACK + ":" + freePort();
            String second = LOOPBACK + ":" + freePort();
            List<String> group = List.of(STAGING, "--members=" + first, "--secret-file=" + secret);
            TrainingNode holder = TrainingNode.start(
                    source.root(), directory.resolve("holder"), with(group, "--memory=4MiB", "--bind=" + first));
            TrainingNode asker = TrainingNode.start(
                    source.root(),
                    directory.resolve("asker"),
                    with(
                            group,
                            "--memory=0B",
                            "--ssd=" + directory.resolve("ssd") + ":1MiB",
                            "--ssd-reserve=1MiB",
                            "--bind=" + second));
            if (holder.awaitMounted()) {
                boolean areTwo = asker.awaitMounted();
                try (ExecutorService readers = Executors.newFixedThreadPool(READERS)) {
                    if (areTwo) {
                        readFromSource(asker, readers);
                    }
                    readAlone(holder);
                }
                if (areTwo) {
                    readTogether(holder, asker);
                }
                holder.run(List.of("status"));
            }
            if (!recorder.isEmpty()) {
                record(recorder, holder.point());
            }
        }
    }

    /** Another JVM records what short commands do with the mount. What does not come of it does not end this one's recording. */
    private static void record(List<String> recorder, Path point) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(recorder);
        command.add(point.toString());
        Process recording = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!recording.waitFor(LONGEST_RECORDING_MS, TimeUnit.MILLISECONDS)) {
            recording.destroyForcibly();
        }
    }

    private static List<String> with(List<String> group, String... options) {
        return Stream.concat(group.stream(), List.of(options).stream()).toList();
    }

    /** Begins to read from a node that keeps nothing and knows of nobody who does. */
    private static void readFromSource(TrainingNode node, ExecutorService readers) {
        for (int reader = 0; reader < READERS; reader++) {
            int first = reader * FILES / READERS;
            var _ = readers.submit(() -> {
                node.readAgain(first, READS / READERS, READ_MS);
                return null;
            });
        }
    }

    private static void readAlone(TrainingNode node) throws IOException {
        node.readAll();
        node.readAgain(0, READS, READ_MS);
        node.run(List.of("job", "start"), "seed=1", "batch=2", "epochs=" + 2 * EPOCHS, "name=" + ALONE);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(READ_MS);
        for (int epoch = 0; epoch < EPOCHS && System.nanoTime() < end; epoch++) {
            node.readEpoch(ALONE, epoch, 0);
        }
    }

    /** The one that holds everything, as long as a job wants it, answers the other. */
    private static void readTogether(TrainingNode holder, TrainingNode asker) throws IOException {
        asker.readAgain(0, READS, READ_MS);
        holder.run(List.of("job", "stop"), ALONE);
        String job = "together";
        for (int rank = 0; rank < 2; rank++) {
            TrainingNode node = rank == 0 ? holder : asker;
            node.run(
                    List.of("job", "start"),
                    "seed=2",
                    "batch=2",
                    "epochs=" + EPOCHS,
                    "world=2",
                    "ranks=" + rank,
                    "name=" + job);
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(READ_MS);
        for (int epoch = 0; epoch < EPOCHS && System.nanoTime() < end; epoch++) {
            holder.readEpoch(job, epoch, 0);
            asker.readEpoch(job, epoch, 1);
        }
        asker.run(List.of("status"));
    }

    private static Path makeDataset(Path directory) throws IOException {
        Path dataset = Files.createDirectory(directory.resolve("dataset"));
        for (int i = 0; i < FILES; i++) {
            Path of = Files.createDirectories(dataset.resolve("class" + i % 2));
            Files.write(of.resolve(i + ".jpg"), new byte[FILE_BYTES]);
        }
        return dataset;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
