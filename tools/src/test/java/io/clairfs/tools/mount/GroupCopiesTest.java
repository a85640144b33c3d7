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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * Nodes that together have room for two datasets. Copies by next use fill the room that homes leave, and the source is still read only
 * once.
 */
@Tag("counted")
@Timeout(600)
final class GroupCopiesTest {
    private static final int NODES = 3;
    private static final int SAMPLES = 600;
    private static final int SAMPLE_BYTES = 20_000;
    private static final int EPOCHS = 10;
    private static final int PAUSE_US = 2_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;

    /** The least local share from the second epoch on. For these orders 0.80 is expected by next use, 0.75 by frequency. */
    private static final double LOCAL_SHARE = 0.77;

    /** Two nodes may read a sample at the same moment, or before one knows that the other has it. */
    private static final double MOST_TWICE = 0.03;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    // Promise G13
    @Test
    void copies_are_those_used_next_and_the_source_is_read_once() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(100_000_000, Duration.ofMillis(8)))) {
            NodeGroup.Storage storage = NodeGroup.Storage.memory(DATASET * 2 / NODES);
            NodeGroup group = NodeGroup.of(fixture, dataset, SAMPLES, source.point(), null, storage)
                    .mount(NODES);
            group.startPlanned("seed=3 epochs=" + EPOCHS + " batch=4");
            train(group, dataset, 0, 1);
            Fetches first = fetches(group);
            train(group, dataset, 1, EPOCHS);
            Fetches last = fetches(group);
            // Samples staged after the first epoch are read later, but were fetched before.
            double reads = (double) SAMPLES * (EPOCHS - 1) - first.stagedAhead;
            double local = 1 - (last.fromPeers - first.fromPeers) / reads;
            long read = source.counted().bytes();
            long passedOver = group.peersPassedOver();
            System.out.printf(
                    "local share %.3f, source %.4f of one dataset, slow peers passed over %d times%n",
                    local, (double) read / DATASET, passedOver);
            assertThat(read).isBetween(DATASET, Math.round(DATASET * (1 + MOST_TWICE)) + passedOver * SAMPLE_BYTES);
            assertThat(local).isGreaterThan(LOCAL_SHARE);
        }
    }

    private record Fetches(long fromPeers, long stagedAhead) {}

    private static Fetches fetches(NodeGroup group) throws Exception {
        long peer = 0;
        long ahead = 0;
        for (LiveMount node : group.nodes()) {
            JsonNode status = node.status();
            System.out.println(status.path("fetched") + " " + status.path("peers_passed_over") + " "
                    + status.path("group").path("plan_digest") + " " + status.path("peers") + " " + status.path("reads")
                    + " " + node.lines("errors"));
            peer += status.at("/fetched/peer/count").asLong();
            ahead += status.at("/jobs/0/staged_ahead").asLong();
        }
        return new Fetches(peer, ahead);
    }

    private void train(NodeGroup group, Path dataset, int fromEpoch, int toEpoch) throws Exception {
        try (ExecutorService trainers = Executors.newFixedThreadPool(NODES)) {
            List<Future<?>> running = new ArrayList<>();
            for (int rank = 0; rank < NODES; rank++) {
                int mine = rank;
                running.add(trainers.submit(() -> {
                    for (int epoch = fromEpoch; epoch < toEpoch; epoch++) {
                        String equal = fixture.python(
                                "read_in_order.py",
                                group.nodes().get(mine).point(),
                                dataset,
                                "train",
                                epoch + "/" + mine,
                                SAMPLES / NODES,
                                PAUSE_US,
                                0);
                        assertThat(equal.strip()).isEqualTo(Integer.toString(SAMPLES / NODES));
                    }
                    return null;
                }));
            }
            for (Future<?> trainer : running) {
                trainer.get();
            }
        }
    }
}
