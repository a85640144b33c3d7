package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.fs.slow.SourceReads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.json.JsonMapper;

/**
 * Eight nodes, each in its own network, with caches for 1.2 times the data in all, train four epochs: once undisturbed, and once while a node is
 * killed in the second epoch and comes back, empty, in the third. What is read from the source is counted there. {@code .ci/long-run lost} runs it.
 *
 * <p>Only wrong bytes make it fail. It prints its measurements.
 */
@Timeout(900)
final class LostNodeBenchmark {
    private static final int NODES = 8;
    private static final int LAST = NODES - 1;
    private static final int SAMPLES = 12_800;
    private static final int SAMPLE_BYTES = 20_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 4;
    private static final int BATCH = 16;
    private static final double COMPUTE_MS = 200;
    private static final long LINK_BYTES_PER_SECOND = 100_000_000;

    /** One of so many samples is looked for at each node, to estimate how many the lost one holds alone. */
    private static final int EACH = 8;

    private static final JsonMapper JSON = new JsonMapper();

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    @Test
    void source_reads_of_eight_nodes() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = slow(dataset)) {
            undisturbed(dataset, source);
        }
    }

    @Test
    void source_reads_after_one_of_eight_nodes_was_lost() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = slow(dataset)) {
            lost(dataset, source);
        }
    }

    private SlowMount slow(Path dataset) throws Exception {
        return SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(30_000_000, Duration.ofMillis(20)));
    }

    private NodeGroup mount(Path dataset, SlowMount source) throws Exception {
        long each = DATASET * 12 / 10 / NODES;
        return NodeGroup.of(
                        fixture,
                        dataset,
                        SAMPLES,
                        source.point(),
                        fixture.network(NODES, LINK_BYTES_PER_SECOND),
                        _ -> List.of("--memory", each + "B", "--staging", "2MiB", "--loaders", "4"))
                .mount(NODES);
    }

    private static List<RankTrainer> trainers(NodeGroup group, Training training) throws Exception {
        List<RankTrainer> trainers = new ArrayList<>();
        for (int rank = 0; rank < NODES; rank++) {
            trainers.add(group.plain(training, rank));
        }
        for (RankTrainer trainer : trainers) {
            trainer.awaitReady();
        }
        return trainers;
    }

    private void undisturbed(Path dataset, SlowMount source) throws Exception {
        NodeGroup group = mount(dataset, source);
        SourceReads before = source.counted();
        Training training = new Training("whole", 11, EPOCHS, BATCH, COMPUTE_MS);
        List<RankTrainer> trainers = trainers(group, training);
        group.start(training);
        for (RankTrainer trainer : trainers) {
            trainer.finished();
        }
        System.out.printf(
                "%d nodes, caches for 1.2 times the data, %d epochs: source opened %.4f times per sample%n",
                NODES, EPOCHS, (double) source.counted().since(before).opens() / SAMPLES);
        for (LiveMount node : group.nodes()) {
            fixture.clairfs("umount", node.point()).succeeded();
        }
    }

    private void lost(Path dataset, SlowMount source) throws Exception {
        NodeGroup group = mount(dataset, source);
        SourceReads before = source.counted();
        Training training = new Training("lost", 11, Training.NO_END, BATCH, COMPUTE_MS);
        List<RankTrainer> trainers = trainers(group, training);
        group.start(training);
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(1);
        }
        SourceReads first = source.counted().since(before);
        int alone = heldByLastAlone(group);
        new ProcessBuilder("kill", "-KILL", Long.toString(group.pids().get(LAST)))
                .start()
                .waitFor();
        RankTrainer victim = trainers.removeLast();
        assertThat(victim.process().destroyForcibly().waitFor()).isNotZero();
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(1);
        }
        group.awaitGone(LAST, group.nodes().subList(0, LAST));
        SourceReads whileGone = source.counted().since(before);
        group.again(LAST);
        group.awaitWhole();
        group.start(training, LAST);
        trainers.add(group.plain(training, LAST));
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(2);
        }
        SourceReads whole = source.counted().since(before);
        for (RankTrainer trainer : trainers) {
            assertThat(trainer.finish()).isPositive();
        }
        System.out.printf(
                "one of %d nodes is killed in the second epoch, and comes back empty in the third: it alone held about %d of %d samples%n",
                NODES, alone, SAMPLES);
        System.out.printf(
                "source opened: first epoch %d, until it came back %d more, then %d more: %.3f of what it alone held%n",
                first.opens(),
                whileGone.opens() - first.opens(),
                whole.opens() - whileGone.opens(),
                (double) (whole.opens() - first.opens()) / alone);
    }

    private static int heldByLastAlone(NodeGroup group) throws IOException {
        Set<Integer> alone = new HashSet<>();
        for (int sample = 0; sample < SAMPLES; sample += EACH) {
            if (holds(group.nodes().get(LAST), sample)) {
                alone.add(sample);
            }
        }
        for (LiveMount node : group.nodes().subList(0, LAST)) {
            for (int sample : List.copyOf(alone)) {
                if (holds(node, sample)) {
                    alone.remove(sample);
                }
            }
        }
        return EACH * alone.size();
    }

    private static boolean holds(LiveMount node, int sample) throws IOException {
        String where = Files.readString(node.point().resolve(".clairfs/where/s" + sample), UTF_8);
        return !JSON.readTree(where).at("/at/tiers").isEmpty();
    }
}
