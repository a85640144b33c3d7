package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the feeder gives a Python loop: beside a loop in C that reads the same files from memory, and beside PyTorch's DataLoader on the same mount.
 * {@code .ci/long-run feed} runs it.
 *
 * <p>All samples are staged before an epoch is measured, so it is the feeder that is compared and not the mount. It asserts nothing about rates.
 */
@Timeout(900)
final class FeedBenchmark {
    private static final int EPOCHS = 4;

    /** Until the code of daemon and feeder is compiled, and for a while after that. */
    private static final int EPOCHS_TO_COMPILE = 48;

    private static final int EPOCHS_SHOWN = 12;
    private static final int JPEGS = 1_200;
    private static final JsonMapper JSON = new JsonMapper();

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path shared;

    @BeforeEach
    void makeDirectory() throws IOException {
        shared = Files.createTempDirectory(Path.of("/dev/shm"), "clairfs-bench-");
    }

    @AfterEach
    void removeDirectory() throws IOException {
        try (var files = Files.walk(shared)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void small_samples_beside_a_loop_in_c() throws Exception {
        int bytes = 110_000;
        LiveMount mount = mountSamples(10_000, bytes);
        double inC = loopInC(mount, bytes);
        System.out.printf("10,000 samples of 110 KB from tmpfs into one buffer in C: %,.0f samples/s%n", inC);
        JsonNode fed = staged(mount, "feed", Integer.toString(bytes), EPOCHS_TO_COMPILE);
        for (int shown = 0; shown < EPOCHS_SHOWN; shown++) {
            int epoch = shown < EPOCHS ? shown : EPOCHS_TO_COMPILE * shown / EPOCHS_SHOWN;
            double rate = fed.get(epoch).path("rate").asDouble();
            System.out.printf(
                    "fed to a Python loop in epoch %d: %,.0f samples/s, %.2f of C; %.2f us of its CPU per sample%n",
                    epoch, rate, rate / inC, fed.get(epoch).path("cpu_us").asDouble());
        }
        System.out.printf(
                "in C again: %,.0f samples/s; a sample took %.0f us of a feeder's thread%n",
                loopInC(mount, bytes),
                fed.get(EPOCHS_TO_COMPILE - 1).at("/feeder/load_us_per_sample").asDouble());
    }

    @Test
    void raw_floats_beside_a_loader() throws Exception {
        int bytes = 600_000;
        besideALoader("2,000 samples of 600 KB", mountSamples(2_000, bytes), Integer.toString(bytes));
    }

    @Test
    void jpegs_beside_a_loader() throws Exception {
        Path images = Files.createDirectory(shared.resolve("a"));
        fixture.python("make_jpegs.py", images, JPEGS);
        besideALoader(JPEGS + " JPEG files to 224 pixels", mount(), "jpeg");
    }

    private void besideALoader(String samples, LiveMount mount, String what) throws Exception {
        JsonNode loaded = staged(mount, "loader", what, EPOCHS);
        JsonNode fed = staged(mount, "feed", what, EPOCHS);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            double loader = loaded.get(epoch).path("rate").asDouble();
            double feeder = fed.get(epoch).path("rate").asDouble();
            System.out.printf(
                    "%s: DataLoader with 2 workers %,.0f samples/s, fed %,.0f, %.1f times%n",
                    samples, loader, feeder, feeder / loader);
        }
    }

    private LiveMount mountSamples(int samples, int bytes) throws IOException, InterruptedException {
        Images.make(shared.resolve("a"), samples, bytes);
        return mount();
    }

    private LiveMount mount() throws IOException, InterruptedException {
        LiveMount mount = fixture.mount(shared, "--memory", "64MiB", "--staging", "1400MiB");
        mount.awaitReady();
        return mount;
    }

    /** Measures the epochs of a new job, all of whose samples are staged. In the first the feeder's JVM compiles itself. */
    private JsonNode staged(LiveMount mount, String how, String what, int epochs) throws Exception {
        mount.job("name=bench seed=1 batch=64 epochs=" + epochs);
        mount.await(
                "staged",
                s -> s.at("/jobs/0/staged_ahead").asInt() >= s.at("/samples").asInt());
        List<String> command =
                new ArrayList<>(fixture.pythonCommand("feed_rates.py", mount.point(), how, "bench", what, epochs));
        command.addAll(Clairfs.command());
        JsonNode said = JSON.readTree(Ended.run(command, fixture.environment()).succeeded());
        assertThat(said.path(0).path("samples").asInt())
                .isEqualTo(mount.status().path("samples").asInt());
        mount.job("stop=bench");
        return said;
    }

    private double loopInC(LiveMount mount, int bytes) throws Exception {
        Path source = fixture.directory().resolve("loop.c");
        try (InputStream text = FeedBenchmark.class.getResourceAsStream("feed_loop.c")) {
            Files.write(source, text.readAllBytes());
        }
        Path program = fixture.directory().resolve("loop");
        Ended.run(List.of("gcc", "-O2", "-o", program.toString(), source.toString()), Map.of())
                .succeeded();
        mount.job("name=bench seed=" + bytes + " epochs=1 batch=64");
        List<String> index = mount.lines("index");
        Path list = Files.write(
                fixture.directory().resolve("list"),
                mount.order("bench", 0, 0).stream()
                        .map(number -> shared + "/" + index.get(Integer.parseInt(number)))
                        .toList());
        mount.job("stop=bench");
        return Double.parseDouble(
                Ended.run(List.of(program.toString(), list.toString(), Integer.toString(bytes)), Map.of())
                        .succeeded()
                        .strip());
    }
}
