package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Jobs that share one node's caches: what they read from the source, counted there, and whether their trainers are told apart. */
@Tag("counted")
@Execution(CONCURRENT)
@Timeout(600)
final class SeveralJobsTest {
    private static final int TRAINING = 480;
    private static final int VALIDATION = 120;
    private static final int SAMPLES = TRAINING + VALIDATION;
    private static final int SAMPLE_BYTES = 50_000;
    private static final int EPOCHS = 6;
    private static final int PAUSE_US = 2_000;

    /** The allowed difference from the least that the source can be read, as a share of it. */
    private static final double TOLERANCE = 0.02;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSamples() throws IOException {
        Path dataset = fixture.newDirectory("dataset");
        Random random = new Random(3);
        byte[] content = new byte[SAMPLE_BYTES];
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(dataset.resolve(i < TRAINING ? "train" : "val"));
            random.nextBytes(content);
            Files.write(directory.resolve("s%04d".formatted(i)), content);
        }
        return dataset;
    }

    private SlowMount slow(Path dataset) throws IOException {
        return SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(200_000_000, Duration.ofMillis(1)));
    }

    private LiveMount mount(SlowMount source, int samplesInMemory) throws Exception {
        LiveMount mount = fixture.mount(
                source.point(),
                "--index-rule",
                "sorted",
                "--memory",
                (long) samplesInMemory * SAMPLE_BYTES + "B",
                "--staging",
                "4MiB",
                "--loaders",
                "4");
        mount.awaitReady();
        return mount;
    }

    private void read(LiveMount mount, Path dataset, String directory, int first, int last, int apart, String... jobs)
            throws Exception {
        List<Object> arguments =
                new ArrayList<>(List.of(mount.point(), dataset, directory, first, last, PAUSE_US, apart));
        arguments.addAll(List.of(jobs));
        String equal = fixture.python("read_pass.py", arguments.toArray());
        int samples = directory.equals("val") ? VALIDATION : TRAINING;
        assertThat(equal.strip()).isEqualTo(Integer.toString(jobs.length * (last + 1 - first) * samples));
    }

    // Promise J8
    @Test
    void training_and_validation_share_the_cache_as_well_as_any_policy_could() throws Exception {
        Path dataset = makeSamples();
        int cached = SAMPLES / 2;
        CacheTrace trace = new CacheTrace();
        try (SlowMount source = slow(dataset)) {
            LiveMount mount = mount(source, cached);
            mount.job("name=train subset=train seed=5 epochs=" + EPOCHS + " batch=4 workers=0");
            mount.job("name=val subset=val sampler=sequential epochs=" + EPOCHS + " batch=4 workers=0");
            long inFirstEpoch = 0;
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                mount.lines("order/train/" + epoch + "/0").forEach(line -> trace.read(Integer.parseInt(line)));
                mount.lines("order/val/" + epoch + "/0").forEach(line -> trace.read(TRAINING + Integer.parseInt(line)));
                read(mount, dataset, "train", epoch, epoch, 0, "train");
                read(mount, dataset, "val", epoch, epoch, 0, "val");
                inFirstEpoch = epoch == 0 ? source.counted().bytes() : inFirstEpoch;
            }
            long read = source.counted().bytes() - inFirstEpoch;
            double hits = 1 - (double) read / SAMPLE_BYTES / SAMPLES / (EPOCHS - 1);
            double optimum = trace.optimum(cached, SAMPLES);
            double tinyLfu = trace.tinyLfu(cached, SAMPLES);
            System.out.printf("share of hits: %.3f, optimum %.3f, W-TinyLFU %.3f%n", hits, optimum, tinyLfu);
            assertThat(hits).isGreaterThan(optimum - TOLERANCE).isGreaterThan(tinyLfu + 0.1);
        }
    }

    /** Trains with two jobs of these seeds, the second so many samples behind the first. Returns the samples read from the source. */
    private double trainTwo(int cached, int seed, int otherSeed, int apart) throws Exception {
        Path dataset = makeSamples();
        try (SlowMount source = slow(dataset)) {
            LiveMount mount = mount(source, cached);
            mount.job("name=a subset=train seed=" + seed + " epochs=" + EPOCHS + " batch=4 workers=0");
            mount.job("name=b subset=train seed=" + otherSeed + " epochs=" + EPOCHS + " batch=4 workers=0");
            read(mount, dataset, "train", 0, EPOCHS - 1, apart, "a", "b");
            JsonNode status = mount.status();
            for (JsonNode job : status.path("jobs")) {
                assertThat(job.path("in_sync").asBoolean()).as("%s", status).isTrue();
                assertThat(job.path("deviations").asInt()).as("%s", status).isLessThan(EPOCHS * TRAINING / 20);
            }
            return (double) source.counted().bytes() / SAMPLE_BYTES;
        }
    }

    // Promise J8
    @ParameterizedTest(name = "{0} samples apart")
    @ValueSource(ints = 80)
    void two_trainings_of_one_order_read_the_source_once(int apart) throws Exception {
        int cached = TRAINING / 2;
        double read = trainTwo(cached, 5, 5, apart);
        int one = TRAINING + (EPOCHS - 1) * (TRAINING - cached);
        int two = 2 * one - TRAINING;
        System.out.printf(
                "%d apart: read from the source %.0f; %d at least for one training, %d for two%n",
                apart, read, one, two);
        assertThat(read).isLessThan(0.9 * two);
    }

    @Tag("exhaustive")
    @ParameterizedTest(name = "{0} samples apart")
    @ValueSource(ints = 0)
    void two_trainings_side_by_side_read_the_source_once(int apart) throws Exception {
        two_trainings_of_one_order_read_the_source_once(apart);
    }

    // Promise J7
    @Test
    void trainings_of_two_orders_over_the_same_samples_are_each_in_sync() throws Exception {
        assertThat(trainTwo(TRAINING, 5, 6, 0)).isLessThan(TRAINING * (1 + TOLERANCE));
    }
}
