package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        long cachePerNode = DATASET * percent / 100 / NODES;
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(100_000_000, Duration.ofMillis(2)))) {
            NodeGroup group = NodeGroup.mount(fixture, dataset, SAMPLES, source, NODES, cachePerNode);
            group.job("seed=9 epochs=" + EPOCHS + " batch=4");
            try (ExecutorService trainers = Executors.newFixedThreadPool(NODES)) {
                List<Future<?>> running = new ArrayList<>();
                for (int rank = 0; rank < NODES; rank++) {
                    int mine = rank;
                    running.add(trainers.submit(() -> {
                        group.train(mine, EPOCHS, PAUSE_US);
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
            for (LiveMount node : group.nodes()) {
                System.out.println(node.status().path("fetched") + " " + node.lines("errors"));
                assertThat(node.status().path("peers")).hasSize(NODES - 1);
            }
            assertThat(read).isCloseTo(bound, TOLERANCE);
        }
    }
}
