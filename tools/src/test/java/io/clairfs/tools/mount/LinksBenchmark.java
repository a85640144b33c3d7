package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two nodes on a source, each in its own network: the same training alone and in a group, with links that are slower than the source and links
 * that are faster. {@code .ci/long-run links} runs it. The programs have just started in each training, so a first epoch is some tenths longer or
 * shorter each time: several pairs, each of a training alone and one in a group, and the median of their ratios.
 *
 * <p>Only wrong bytes make it fail. It prints its measurements; judge them by how busy the machine was.
 */
@Timeout(900)
final class LinksBenchmark {
    private static final int NODES = 2;
    private static final int SAMPLES = 2_000;
    private static final int SAMPLE_BYTES = 110_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 4;
    private static final int PAIRS = 3;
    private static final int BATCH = 20;

    /** Each rank reads 40 MB/s. */
    private static final double STEP_MS = 55;

    private static final double COMPUTE_SECONDS = SAMPLES / NODES / BATCH * STEP_MS / 1e3;

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    @ParameterizedTest(name = "source {0}, {1} bytes/s and {2} us; links {3} bytes/s")
    @CsvSource({
        "in memory, 0, 0, 2500000",
        "in memory, 0, 0, 10000000",
        "fast, 1000000000, 300, 2500000",
        "fast, 1000000000, 300, 10000000",
        "slow, 30000000, 2000, 300000000"
    })
    void group_beside_the_same_nodes_alone(String name, long sourceBytes, int sourceUs, long linkBytes)
            throws Exception {
        NodeNetwork network = fixture.network(NODES, linkBytes);
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        if (sourceBytes == 0) {
            measure(name, linkBytes, dataset, dataset, network);
        } else {
            try (SlowMount source = SlowMount.mount(
                    dataset,
                    fixture.newDirectory("slow"),
                    new SlowSourceSpec(sourceBytes, Duration.ofNanos(1_000L * sourceUs)))) {
                measure(name, linkBytes, dataset, source.point(), network);
            }
        }
    }

    @Test
    void peer_that_becomes_ten_times_slower_in_the_middle_of_an_epoch() throws Exception {
        long linkBytes = 50_000_000;
        NodeNetwork network = fixture.network(NODES, linkBytes);
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(1_000_000_000, Duration.ofNanos(300_000)))) {
            for (Path file : list(dataset)) {
                assertThat(Files.readAllBytes(file)).hasSize(SAMPLE_BYTES); // loads it into the page cache
            }
            double[] alone = train("alone", dataset, source.point(), network, false);
            Thread slower = Thread.ofPlatform().unstarted(() -> slowDown(network, linkBytes / 10));
            double[] together = train("together", dataset, source.point(), network, true, slower);
            slower.join();
            System.out.printf(
                    "links of %.1f MB/s, a tenth of that from the middle of the second epoch on%n", linkBytes / 1e6);
            System.out.println("  alone    " + text(alone));
            System.out.println("  together " + text(together));
        }
    }

    private static void slowDown(NodeNetwork network, long bytesPerSecond) {
        try {
            Thread.sleep((long) (1_500 * COMPUTE_SECONDS));
            network.limit(1, bytesPerSecond);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void measure(String name, long linkBytes, Path dataset, Path source, NodeNetwork network) throws Exception {
        for (Path file : list(dataset)) {
            assertThat(Files.readAllBytes(file)).hasSize(SAMPLE_BYTES); // loads it into the page cache
        }
        System.out.printf(
                "source %s, links of %.1f MB/s: seconds of the epochs, compute only %.2f%n",
                name, linkBytes / 1e6, COMPUTE_SECONDS);
        double[] firsts = new double[PAIRS];
        double[] wholes = new double[PAIRS];
        for (int pair = 0; pair < PAIRS; pair++) {
            double[] alone = train("alone" + pair, dataset, source, network, false);
            double[] together = train("together" + pair, dataset, source, network, true);
            System.out.println("  alone    " + text(alone));
            System.out.println("  together " + text(together));
            firsts[pair] = together[0] / alone[0];
            wholes[pair] = sum(together) / sum(alone);
        }
        System.out.printf(
                "  together / alone: first epoch %.3f (%s), all %.3f (%s)%n",
                median(firsts), text(firsts), median(wholes), text(wholes));
    }

    private static List<Path> list(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.toList();
        }
    }

    private double[] train(String job, Path dataset, Path source, NodeNetwork network, boolean grouped)
            throws Exception {
        return train(job, dataset, source, network, grouped, null);
    }

    /** Trains; {@code besides} starts with the training. */
    private double[] train(
            String job, Path dataset, Path source, NodeNetwork network, boolean grouped, @Nullable Thread besides)
            throws Exception {
        NodeGroup.Storage storage = _ -> List.of("--memory", DATASET * 6 / 10 + "B", "--staging", "64MiB");
        NodeGroup group = NodeGroup.of(fixture, dataset, SAMPLES, source, network, storage);
        if (grouped) {
            group.mount(NODES);
        } else {
            for (int node = 0; node < NODES; node++) {
                int number = node;
                List<String> options = new ArrayList<>(storage.options(node));
                options.addAll(List.of("--index-rule", "sorted"));
                group.nodes()
                        .add(fixture.mountAt(
                                command -> network.inside(number, command),
                                fixture.newDirectory("mnt"),
                                source,
                                options.toArray(String[]::new)));
            }
        }
        Training training = new Training(job, 11, EPOCHS, BATCH, STEP_MS);
        List<RankTrainer> trainers = new ArrayList<>();
        for (int rank = 0; rank < NODES; rank++) {
            trainers.add(group.plain(training, rank));
        }
        for (RankTrainer trainer : trainers) {
            trainer.awaitReady();
        }
        group.start(training);
        if (besides != null) {
            besides.start();
        }
        for (RankTrainer trainer : trainers) {
            trainer.finished();
        }
        double[] seconds = RankTrainer.epochSeconds(trainers);
        for (LiveMount node : group.nodes()) {
            System.out.println("  " + job + " " + node.status().path("fetched"));
            fixture.clairfs("umount", node.point()).succeeded();
        }
        return seconds;
    }

    private static double median(double[] values) {
        return Arrays.stream(values).sorted().toArray()[values.length / 2];
    }

    private static double sum(double[] seconds) {
        return Arrays.stream(seconds).sum();
    }

    private static String text(double[] seconds) {
        StringBuilder text = new StringBuilder();
        for (double each : seconds) {
            text.append("%7.3f".formatted(each));
        }
        return text.toString();
    }
}
