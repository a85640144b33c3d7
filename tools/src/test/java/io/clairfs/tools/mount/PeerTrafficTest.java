package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Four nodes, each in a network of its own, on one source. The bytes read from the source, counted there, are those that one node with all
 * their caches would read.
 *
 * <p>Samples still staged from the previous epoch may reduce them. One trainer is PyTorch's DataLoader if it is installed, the others are
 * plain readers. All of them compare every byte.
 */
@Tag("counted")
@Timeout(600)
final class PeerTrafficTest {
    private static final int NODES = 4;
    private static final int SAMPLES = 1_600;
    private static final int SAMPLE_BYTES = 40_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 4;
    private static final Training TRAINING = new Training("train", 9, EPOCHS, 4, 20);
    private static final long SOURCE_BYTES_PER_SECOND = 30_000_000;
    /** Slower than peers that have just begun: a source that is as quick as they are is read in their place, and rightly. */
    private static final Duration SOURCE_DELAY = Duration.ofMillis(8);

    private static final long LINK_BYTES_PER_SECOND = 10 * SOURCE_BYTES_PER_SECOND;

    /** Two nodes may read a sample at the same moment, or before one knows that the other has it. */
    private static final double MOST = 1.03;

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    @Tag("exhaustive")
    @ParameterizedTest(name = "caches for {0} percent of the data in all")
    @CsvSource({"60"})
    void source_is_read_as_by_one_node_with_all_the_caches(int percent) throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        long cachePerNode = DATASET * percent / 100 / NODES;
        NodeNetwork network = fixture.network(NODES, LINK_BYTES_PER_SECOND);
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(SOURCE_BYTES_PER_SECOND, SOURCE_DELAY))) {
            NodeGroup group = NodeGroup.of(
                            fixture, dataset, SAMPLES, source.point(), network, NodeGroup.Storage.memory(cachePerNode))
                    .mount(NODES);
            group.start(TRAINING);
            List<RankTrainer> trainers = new ArrayList<>();
            boolean torch = Requirements.hasTorch();
            for (int rank = 0; rank < NODES; rank++) {
                trainers.add(torch && rank == 0 ? group.torch(TRAINING, rank) : group.plain(TRAINING, rank));
            }
            double longest = 0;
            for (RankTrainer trainer : trainers) {
                longest = Math.max(longest, trainer.finished());
            }
            long bound = DATASET + (EPOCHS - 1) * Math.max(0, DATASET - NODES * cachePerNode);
            long read = source.counted().bytes();
            long passedOver = group.peersPassedOver();
            System.out.printf(
                    "%d %%: source %d bytes, bound %d, ratio %.4f; slow peers passed over %d times; longest read %.2f s; %s%n",
                    percent,
                    read,
                    bound,
                    (double) read / bound,
                    passedOver,
                    longest,
                    torch ? "with PyTorch" : "plain readers only, there is no PyTorch");
            for (LiveMount node : group.nodes()) {
                System.out.println(node.status().path("fetched") + " " + node.lines("errors"));
                assertThat(node.status().path("peers")).hasSize(NODES - 1);
                assertThat(node.status().at("/jobs/0/in_sync").asBoolean()).isTrue();
            }
            assertThat(read)
                    .as("%s", fixture.logs())
                    .isBetween(
                            Math.max(DATASET, bound - (EPOCHS - 1) * NODES * NodeGroup.STAGING_BYTES),
                            Math.round(bound * MOST) + passedOver * SAMPLE_BYTES);
        }
    }

    @Tag("exhaustive")
    @ParameterizedTest(name = "caches for {0} percent of the data in all")
    @CsvSource({"120"})
    void source_is_read_once_by_nodes_with_room_for_all(int percent) throws Exception {
        source_is_read_as_by_one_node_with_all_the_caches(percent);
    }
}
