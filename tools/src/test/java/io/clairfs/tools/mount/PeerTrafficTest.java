package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Several nodes on one source: what is read from it, counted there, is what one node with all their caches would read. */
@Timeout(400)
final class PeerTrafficTest {
    private static final int NODES = 3;
    private static final int SAMPLES = 450;
    private static final int SAMPLE_BYTES = 40_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 4;
    private static final int PAUSE_US = 3_000;
    private static final Percentage TOLERANCE = Percentage.withPercentage(3);

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @ParameterizedTest(name = "caches for {0} percent of the data in all")
    @CsvSource({"120", "60"})
    void source_is_read_as_by_one_node_with_all_the_caches(int percent) throws Exception {
        Path dataset = makeSamples();
        long cachePerNode = DATASET * percent / 100 / NODES;
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(100_000_000, Duration.ofMillis(2)))) {
            List<LiveMount> nodes = mountGroup(source, cachePerNode);
            for (int rank = 0; rank < NODES; rank++) {
                nodes.get(rank).job("seed=9 epochs=" + EPOCHS + " batch=4 world=" + NODES + " ranks=" + rank);
            }
            try (ExecutorService trainers = Executors.newFixedThreadPool(NODES)) {
                List<Future<?>> running = new ArrayList<>();
                for (int rank = 0; rank < NODES; rank++) {
                    LiveMount mount = nodes.get(rank);
                    int mine = rank;
                    running.add(trainers.submit(() -> {
                        readEpochs(mount, dataset, mine);
                        return null;
                    }));
                }
                for (Future<?> trainer : running) {
                    trainer.get();
                }
            }
            long bound = DATASET + (EPOCHS - 1) * Math.max(0, DATASET - NODES * cachePerNode);
            long read = source.counted().bytes();
            System.out.printf(
                    "%d %%: source %d bytes, bound %d, ratio %.4f%n", percent, read, bound, (double) read / bound);
            for (LiveMount node : nodes) {
                System.out.println(node.status().path("fetched") + " " + node.lines("errors"));
                assertThat(node.status().path("peers")).hasSize(NODES - 1);
            }
            assertThat(read).isCloseTo(bound, TOLERANCE);
        }
    }

    private List<LiveMount> mountGroup(SlowMount source, long cache) throws Exception {
        int port = ThreadLocalRandom.current().nextInt(20_000, 50_000) / 10 * 10;
        List<LiveMount> nodes = new ArrayList<>();
        String members = "127.0.0.1:" + port;
        for (int node = 0; node < NODES; node++) {
            nodes.add(fixture.mount(
                    source.point(),
                    "--index-rule",
                    "sorted",
                    "--memory",
                    cache + "B",
                    "--staging",
                    "1MiB",
                    "--loaders",
                    "4",
                    "--bind",
                    "127.0.0.1:" + (port + 2 * node),
                    "--members",
                    members));
        }
        for (LiveMount node : nodes) {
            node.await("among its peers", s -> s.path("peers").size() == NODES - 1);
        }
        return nodes;
    }

    private void readEpochs(LiveMount mount, Path dataset, int rank) throws Exception {
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            int samples = SAMPLES / NODES;
            String equal = fixture.python(
                    "read_in_order.py", mount.point(), dataset, "train", epoch + "/" + rank, samples, PAUSE_US, 0);
            assertThat(equal.strip()).isEqualTo(Integer.toString(samples));
        }
    }

    private Path makeSamples() throws IOException {
        Path directory = fixture.newDirectory("dataset");
        Random random = new Random(3);
        byte[] content = new byte[SAMPLE_BYTES];
        for (int i = 0; i < SAMPLES; i++) {
            random.nextBytes(content);
            Files.write(directory.resolve("s" + i), content);
        }
        return directory;
    }
}
