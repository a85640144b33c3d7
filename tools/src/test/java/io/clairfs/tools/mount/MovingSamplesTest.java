package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.FurtherCases;
import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * Partial local shuffling on nodes with room for their parts and for what comes for the next epoch: nodes read the exchanged samples from one
 * another, and the source once.
 */
@Tag("counted")
@Timeout(600)
final class MovingSamplesTest {
    private static final int NODES = 4;
    private static final int SAMPLES = 800;
    private static final int SAMPLE_BYTES = 20_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final double EXCHANGED = 0.1;

    /** Beside (1 + Q) of a part, for what samples take beside their bytes. */
    private static final double ROOM = 1.03;

    private static final long ROOM_BYTES = Math.round(DATASET * (1 + EXCHANGED) / NODES * ROOM);

    /** A segment that is being written, and one that is being emptied. */
    private static final long SSD_SEGMENTS_BYTES = 1 << 19;

    private static final int MOST_EXCHANGED = (int) (SAMPLES * EXCHANGED);

    /** Those that are read; the job has more, and is planned for them. */
    private static final int EPOCHS = 2 + FurtherCases.of(2);

    /** A plan for an epoch comes within some two seconds of its beginning; an epoch takes five. */
    private static final int PAUSE_US = 25_000;

    /** Two nodes may read a sample at the same moment, or before one knows that the other has it. */
    private static final double MOST_TWICE = 0.03;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    // Promise G17
    @Test
    void nodes_read_the_exchanged_samples_from_one_another_and_the_source_once() throws Exception {
        requireExchange(NodeGroup.Storage.memory(ROOM_BYTES));
    }

    // Promise G17
    @Tag("exhaustive")
    @Test
    void samples_on_an_ssd_are_exchanged_as_well() throws Exception {
        requireExchange(node -> List.of(
                "--memory",
                "0B",
                "--staging",
                "1MiB",
                "--loaders",
                "4",
                "--ssd",
                fixture.newDirectory("disk" + node) + ":" + (ROOM_BYTES + SSD_SEGMENTS_BYTES) + "B",
                "--ssd-reserve",
                "1MiB"));
    }

    private void requireExchange(NodeGroup.Storage storage) throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(100_000_000, Duration.ofMillis(8)))) {
            NodeGroup group = NodeGroup.of(fixture, dataset, SAMPLES, source.point(), null, storage)
                    .mount(NODES);
            group.startPlanned("sampler=partial-local exchange=" + EXCHANGED + " seed=3 epochs=30 batch=4");
            long[] peers = new long[EPOCHS + 1];
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                train(group, dataset, epoch);
                requireWholeExchange(group, epoch + 2); // nothing more comes before the next epoch is read
                peers[epoch + 1] = fetchedFromPeers(group);
                System.out.printf(
                        "epoch %d: %d samples from peers, the source has been read %.4f times%n",
                        epoch,
                        peers[epoch + 1] - peers[epoch],
                        (double) source.counted().bytes() / DATASET);
            }
            for (LiveMount node : group.nodes()) {
                System.out.println(node.status().path("fetched") + " " + node.lines("errors"));
                assertThat(node.status().at("/jobs/0/in_sync").asBoolean()).isTrue();
            }
            // Each epoch that was read but the first, and the two that follow, have got what comes for them: an
            // exchange each.
            double exchanged = (EPOCHS + 1) * SAMPLES * EXCHANGED * (1 - 1.0 / NODES);
            long passedOver = group.peersPassedOver();
            System.out.println("slow peers passed over " + passedOver + " times");
            assertThat(peers[EPOCHS] / exchanged).isLessThan(1.3);
            assertThat((peers[EPOCHS] + passedOver) / exchanged).isGreaterThan(0.7);
            assertThat(source.counted().bytes())
                    .isBetween(DATASET, Math.round(DATASET * (1 + MOST_TWICE)) + passedOver * SAMPLE_BYTES);
        }
    }

    /** All that a node reads in this epoch and not in the one before comes to it, while nobody reads; the status tells. */
    private static void requireWholeExchange(NodeGroup group, int epoch) throws Exception {
        int received = 0;
        int sent = 0;
        for (LiveMount node : group.nodes()) {
            JsonNode exchange = node.await(
                            "with all that comes for epoch " + epoch,
                            s -> s.at("/jobs/0/exchange/epoch").asInt() == epoch
                                    && s.at("/jobs/0/exchange/received").asInt()
                                            == s.at("/jobs/0/exchange/receives").asInt()
                                    && s.at("/jobs/0/exchange/sent").asInt()
                                            == s.at("/jobs/0/exchange/sends").asInt())
                    .at("/jobs/0/exchange");
            assertThat(exchange.path("behind").asInt()).isZero();
            assertThat(exchange.path("received_bytes").asLong())
                    .isEqualTo(exchange.path("received").asLong() * SAMPLE_BYTES);
            received += exchange.path("received").asInt();
            sent += exchange.path("sent").asInt();
        }
        System.out.printf("for epoch %d: %d samples have come to the nodes%n", epoch, received);
        assertThat(received).isEqualTo(sent).isBetween(MOST_EXCHANGED / 2, MOST_EXCHANGED);
    }

    private static long fetchedFromPeers(NodeGroup group) throws Exception {
        long sum = 0;
        for (LiveMount node : group.nodes()) {
            JsonNode status = node.status();
            sum += status.at("/fetched/peer/count").asLong();
        }
        return sum;
    }

    private void train(NodeGroup group, Path dataset, int epoch) throws Exception {
        try (ExecutorService trainers = Executors.newFixedThreadPool(NODES)) {
            List<Future<String>> running = new ArrayList<>();
            for (int rank = 0; rank < NODES; rank++) {
                int mine = rank;
                running.add(trainers.submit(() -> fixture.python(
                        "read_in_order.py",
                        group.nodes().get(mine).point(),
                        dataset,
                        "train",
                        epoch + "/" + mine,
                        SAMPLES / NODES,
                        PAUSE_US,
                        0)));
            }
            for (Future<String> trainer : running) {
                assertThat(trainer.get().strip()).isEqualTo(Integer.toString(SAMPLES / NODES));
            }
        }
    }
}
