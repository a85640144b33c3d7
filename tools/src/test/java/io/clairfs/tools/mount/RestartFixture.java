package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Mounts whose daemon is started again when it is killed, over a dataset for a trainer and another reader. */
abstract class RestartFixture {
    static final int SAMPLES = 600;
    private static final int VALIDATION = 20;
    static final int SAMPLE_BYTES = 50_000;
    private static final long DATASET = (long) (SAMPLES + VALIDATION) * SAMPLE_BYTES;
    static final int SEED = 11;
    static final int BATCH = 16;

    @RegisterExtension
    final MountFixture fixture = MountFixture.withNamespaces();

    Path dataset;

    /** Where the latest mount serves its metrics. */
    String metrics;

    void makeDataset() throws IOException {
        dataset = fixture.newDirectory("data");
        Images.make(dataset.resolve("train/cat"), SAMPLES / 2, SAMPLE_BYTES);
        Images.make(dataset.resolve("train/dog"), SAMPLES / 2, SAMPLE_BYTES);
        Images.make(dataset.resolve("val/cat"), VALIDATION, SAMPLE_BYTES);
    }

    LiveMount mount(Path source, int restarts) throws Exception {
        metrics = "127.0.0.1:" + TestPorts.free(1);
        Path ssd = fixture.newDirectory("ssd");
        LiveMount mount = fixture.mount(
                source,
                "--memory",
                "4MiB",
                "--staging",
                "8MiB",
                "--ssd",
                ssd + ":" + 2 * DATASET,
                "--ssd-reserve",
                "1MiB",
                "--metrics",
                metrics,
                "--restarts",
                Integer.toString(restarts));
        mount.awaitReady();
        if (restarts > 0) {
            mount.awaitSupervisor();
        }
        return mount;
    }

    /** Kills the daemon and waits for the one that takes over. Returns its process. */
    long killAndAwaitNext(LiveMount mount, long pid) throws Exception {
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();
        return mount.awaitNext(pid);
    }

    /** What the next daemon of a mount is started by. */
    static Path restartScript(LiveMount mount) throws IOException {
        return Path.of(mount.read("upgrade").strip()).resolve("restart");
    }

    /** Has the next daemon of a mount begin only when a command has ended. */
    static void delayNext(LiveMount mount, String command) throws IOException {
        Path script = restartScript(mount);
        Files.writeString(script, command + "\n" + Files.readString(script));
    }

    /** Has the next daemon of a mount begin only when a file is there. */
    static void delayNextUntil(Path isThere, LiveMount mount) throws IOException {
        delayNext(mount, "until [ -e '" + isThere + "' ]; do sleep 0.05; done");
    }

    /** The exit code of a program that reads a sample, and what it complained of. */
    Ended cat(LiveMount mount, int sample) throws IOException, InterruptedException {
        return Ended.run(List.of("cat", mount.point() + "/train/cat/" + sample + ".jpg"), Map.of("LC_ALL", "C"));
    }

    /** Until a file for the next daemon of a mount has this text. */
    void awaitKept(LiveMount mount, String file, String text) throws Exception {
        Waiting.until(
                text + " is kept for the next daemon", () -> kept(mount, file).contains(text));
    }

    /** A file for the next daemon of a mount; empty while there is none. */
    String kept(LiveMount mount, String file) throws IOException {
        for (Path each : restartDirectories()) {
            Path kept = each.resolve(file);
            if (each.toString().contains(mount.point().getFileName() + "@") && Files.exists(kept)) {
                return Files.readString(kept);
            }
        }
        return "";
    }

    List<Path> restartDirectories() throws IOException {
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(fixture.directory().resolve("clairfs"), "*.restart")) {
            found.forEach(all::add);
        }
        return all;
    }
}
