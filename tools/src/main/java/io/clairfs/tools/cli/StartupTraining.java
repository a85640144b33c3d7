package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs the commands once, so that a recording JVM ({@code -XX:AOTCacheOutput}) writes a cache with which later JVMs start in half the time.
 * It mounts a small dataset as a group of one, reads it without and with a job, and shows the status. If it cannot mount, it only computes
 * an order.
 *
 * <p>It reads the dataset thousands of times. The cache also keeps profiles, which the compiler would otherwise collect during the first
 * thousands of reads of each mount.
 */
public final class StartupTraining {
    private static final int FILES = 12;
    private static final int FILE_BYTES = 5_000;
    private static final int READS = 6_000;
    private static final int EPOCHS = 250;
    private static final long READ_MS = 8_000;
    private static final long MOUNT_PATIENCE_MS = 15_000;
    private static final long LONGEST_MS = 30_000;
    private static final long STEP_MS = 20;
    private static final String LOOPBACK = "127.0.0.1";

    private StartupTraining() {}

    /**
     * Takes an empty directory for the dataset and the mount, and, where half a minute is too little, after how many seconds a watchdog
     * halts the run. The directory's content may be deleted afterwards. Exits with 0.
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        long longestMs = arguments.length > 1 ? TimeUnit.SECONDS.toMillis(Long.parseLong(arguments[1])) : LONGEST_MS;
        Thread.ofPlatform().daemon().name("training-watch").start(() -> endLate(longestMs));
        Path directory = Path.of(arguments[0]);
        int _ = Main.run("order", "--samples", "3", "--seed", "1");
        Path mount = Files.createDirectory(directory.resolve("mount"));
        Path ready = mount.resolve(".clairfs/status.json");
        Thread daemon = Thread.ofPlatform().daemon().name("training").start(() -> mount(directory, mount));
        for (long waited = 0;
                waited < MOUNT_PATIENCE_MS && daemon.isAlive() && !Files.exists(ready);
                waited += STEP_MS) {
            TimeUnit.MILLISECONDS.sleep(STEP_MS);
        }
        if (Files.exists(ready)) {
            use(mount);
        }
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

    private static void mount(Path directory, Path mount) {
        try {
            Path source = Files.createDirectory(directory.resolve("source"));
            for (int i = 0; i < FILES; i++) {
                Path of = Files.createDirectories(source.resolve("class" + i % 2));
                Files.write(of.resolve(i + ".jpg"), new byte[FILE_BYTES]);
            }
            Path secret = Files.writeString(directory.resolve("secret"), "only for this training, and for no group");
            Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
            int _ = Main.run(
                    "mount",
                    source.toString(),
                    mount.toString(),
                    "--foreground",
                    "--memory=4MiB",
                    "--staging=1MiB",
                    "--bind=" + LOOPBACK + ":" + freePort(),
                    "--secret-file=" + secret);
        } catch (IOException e) {
            System.err.println("clairfs: " + e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void use(Path mount) throws IOException {
        try (Stream<Path> all = Files.walk(mount)) {
            for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                byte[] _ = Files.readAllBytes(file);
            }
        }
        List<Path> samples = Files.readAllLines(mount.resolve(".clairfs/index")).stream()
                .map(mount::resolve)
                .toList();
        readWithoutAJob(samples);
        int _ = Main.run("job", "start", mount.toString(), "seed=1", "batch=2", "epochs=" + EPOCHS, "name=training");
        readInOrder(samples, mount.resolve(".clairfs/order/training"));
        int _ = Main.run("status", mount.toString());
    }

    /** Reads samples from the daemon each time, because their pages are dropped after each read. */
    private static void readWithoutAJob(List<Path> samples) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(READ_MS);
        for (int read = 0; read < READS && System.nanoTime() < end; read++) {
            Path sample = samples.get(read % samples.size());
            byte[] _ = Files.readAllBytes(sample);
            int fd = Posix.openAt(Posix.AT_FDCWD, sample.toString().getBytes(UTF_8), Posix.O_RDONLY);
            try {
                CachedPages.drop(fd);
            } finally {
                Posix.close(fd);
            }
        }
    }

    private static void readInOrder(List<Path> samples, Path orders) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(READ_MS);
        for (int epoch = 0; epoch < EPOCHS && System.nanoTime() < end; epoch++) {
            for (String sample : Files.readAllLines(orders.resolve(epoch + "/0"))) {
                byte[] _ = Files.readAllBytes(samples.get(Integer.parseInt(sample)));
            }
        }
    }
}
