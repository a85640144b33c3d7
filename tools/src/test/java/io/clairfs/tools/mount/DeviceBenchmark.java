package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.gpufeeder.device.DeviceProbe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What reaches a GPU by the feeder's two hand-overs, beside a DataLoader with pinned memory. The bundle for machines with a GPU runs it. It asserts nothing
 * about rates.
 */
@Timeout(900)
final class DeviceBenchmark {
    private static final int IMAGE_BYTES = 3 * 224 * 224;
    private static final int MOST_WORKERS = 8;
    private static final int JPEGS = 256;
    private static final int COPIES = 16;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path shared;

    @BeforeEach
    void makeDirectory() throws IOException {
        assumeTrue(DeviceProbe.run() instanceof DeviceProbe.Found, "no GPU here");
        shared = Files.createTempDirectory(Path.of("/dev/shm"), "clairfs-bench-");
    }

    @AfterEach
    void removeDirectory() throws IOException {
        if (shared == null) {
            return;
        }
        try (var files = Files.walk(shared)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void floats() throws Exception {
        Images.make(shared.resolve("a"), 2_048, Float.BYTES * IMAGE_BYTES);
        run("floats");
    }

    @Test
    void bytes() throws Exception {
        Images.make(shared.resolve("a"), 4_096, IMAGE_BYTES);
        run("bytes");
    }

    @Test
    void jpegs() throws Exception {
        Path first = Files.createDirectory(shared.resolve("0"));
        fixture.python("make_jpegs.py", first, JPEGS);
        for (int copy = 1; copy < COPIES; copy++) {
            Path directory = Files.createDirectory(shared.resolve("" + copy));
            for (int number = 0; number < JPEGS; number++) {
                String name = number + ".jpg";
                Files.copy(first.resolve(name), directory.resolve(name));
            }
        }
        run("jpeg");
    }

    private void run(String what) throws Exception {
        LiveMount mount = fixture.mount(shared, "--memory", "64MiB", "--staging", "2GiB");
        mount.awaitReady();
        int workers = Math.min(MOST_WORKERS, Runtime.getRuntime().availableProcessors());
        List<String> command = new ArrayList<>(fixture.pythonCommand("device_rates.py", mount.point(), what, workers));
        command.addAll(Clairfs.command());
        Ended ended = Ended.run(command, fixture.environment());
        System.out.print(ended.out());
        assertThat(ended.exit()).as(ended.err()).isZero();
    }
}
