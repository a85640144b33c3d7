package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Four nodes, each in its own network, that train in orders which move less data: locality-aware (Yang and Cong, HiPC 2019) and partial local
 * shuffling (Nguyen et al., IPDPS 2022), beside the usual order. {@code .ci/long-run orders} runs it.
 *
 * <p>Only wrong bytes make it fail. It prints its measurements; judge them by how busy the machine was.
 */
@Timeout(900)
final class ChangedOrdersBenchmark {
    private static final int NODES = 4;
    private static final int SAMPLES = 6_400;
    private static final int SAMPLE_BYTES = 20_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 6;

    /** The job has more epochs than are read, as a training has: homes are the better, the fewer epochs they are chosen for. */
    private static final int PLANNED = 90;

    private static final int BATCH = 32;
    private static final double STEP_MS = 100;
    private static final double COMPUTE_SECONDS = (double) SAMPLES / NODES / BATCH * STEP_MS / 1e3;
    private static final long FAST_LINK = 300_000_000;
    private static final SlowSourceSpec SOURCE = new SlowSourceSpec(100_000_000, Duration.ofMillis(2));

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    /**
     * What a training took and moved, in datasets.
     *
     * @param peer from peers in each epoch after the first; what comes for an epoch may come in the one before, so it is an average over all
     * @param exchanged what nodes read in the last epoch and others did in the one before; 0 where samples do not move with their readers
     */
    private record Run(
            double[] seconds, double peer, double exchanged, double firstFromSource, double laterFromSource) {
        double mean() {
            return Arrays.stream(seconds).skip(1).average().orElseThrow();
        }

        String text() {
            String each = Arrays.stream(seconds).mapToObj("%.2f"::formatted).collect(Collectors.joining(" "));
            return "epochs %s s; from peers %.4f of the data in an epoch; from the source %.4f in the first epoch, then %.4f in all"
                    .formatted(each, peer, firstFromSource, laterFromSource);
        }
    }

    @Test
    void locality_aware_beside_the_usual_order() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SOURCE)) {
            long cache = DATASET * 12 / 10 / NODES;
            String aware = "sampler=locality-aware";
            Run usual = train("usual", "", dataset, source, cache, FAST_LINK);
            Run fast = train("aware", aware, dataset, source, cache, FAST_LINK);
            long thin = (long) (usual.peer * DATASET / NODES / COMPUTE_SECONDS / 6);
            Run slow = train("thin", aware, dataset, source, cache, thin);
            Run slowUsual = train("thinusual", "", dataset, source, cache, thin);
            System.out.printf("compute alone %.2f s an epoch%n", COMPUTE_SECONDS);
            System.out.println("torch-distributed, fast links: " + usual.text());
            System.out.println("locality-aware, fast links: " + fast.text());
            System.out.printf("  peer bytes: %.1f times fewer%n", usual.peer / fast.peer);
            System.out.printf("links of %.2f MB/s, a sixth of what torch-distributed needs%n", thin / 1e6);
            System.out.println("locality-aware: " + slow.text());
            System.out.printf("  over compute alone: %.3f%n", slow.mean() / COMPUTE_SECONDS);
            System.out.println("torch-distributed: " + slowUsual.text());
        }
    }

    @Test
    void partial_local_by_the_share_that_is_exchanged() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SOURCE)) {
            for (double share : new double[] {0, 0.1, 0.3, 1}) {
                long cache = (long) (DATASET * (1 + share) / NODES) + (1 << 20);
                Run run = train("q" + (int) (100 * share), partial(share), dataset, source, cache, FAST_LINK);
                System.out.printf("Q = %.1f: %s%n", share, run.text());
                System.out.printf(
                        "  samples of another node for the last epoch %.4f; Q (1 - 1/M) is %.4f, without those that come back at once %.4f%n",
                        run.exchanged, share * (1 - 1.0 / NODES), share * (1 - 1.0 / NODES) * (1 - share / NODES));
            }
        }
    }

    @Test
    void partial_local_where_the_source_is_the_bottleneck() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        long bytesPerSecond = (long) (DATASET / COMPUTE_SECONDS / 5);
        SlowSourceSpec bottleneck = new SlowSourceSpec(bytesPerSecond, Duration.ofMillis(2));
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), bottleneck)) {
            Run none = train("local", partial(0), dataset, source, DATASET / NODES + (1 << 20), FAST_LINK);
            long cache = DATASET * 11 / 10 / NODES + (1 << 20);
            Run some = train("exchange", partial(0.1), dataset, source, cache, FAST_LINK);
            Run global = train("global", "", dataset, source, 1 << 20, FAST_LINK);
            System.out.printf("source of %.1f MB/s, a fifth of what the trainers read%n", bytesPerSecond / 1e6);
            System.out.println("Q = 0: " + none.text());
            System.out.println("Q = 0.1: " + some.text());
            System.out.println("global shuffle from the source: " + global.text());
            System.out.printf(
                    "Q = 0.1: %.3f of Q = 0, %.2f times as fast as the global shuffle%n",
                    some.mean() / none.mean(), global.mean() / some.mean());
        }
    }

    @Test
    void partial_local_when_a_node_is_killed_in_the_middle_of_an_epoch() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SOURCE)) {
            long cache = DATASET * 11 / 10 / NODES + (1 << 20);
            NodeGroup group = mount(dataset, source, cache, FAST_LINK);
            List<RankTrainer> trainers = new ArrayList<>();
            Training training = training("killed", partial(0.1));
            startTrainers(group, training, trainers);
            for (RankTrainer trainer : trainers) {
                trainer.awaitMore(1);
            }
            Thread.sleep((long) (500 * COMPUTE_SECONDS));
            long before = source.counted().bytes();
            new ProcessBuilder("kill", "-KILL", Long.toString(group.pids().getLast()))
                    .start()
                    .waitFor();
            RankTrainer victim = trainers.removeLast();
            assertThat(victim.process().destroyForcibly().waitFor()).isNotZero();
            for (RankTrainer trainer : trainers) {
                trainer.awaitMore(EPOCHS - 2);
            }
            for (RankTrainer trainer : trainers) {
                Files.createFile(trainer.stop());
            }
            double longest = 0;
            for (RankTrainer trainer : trainers) {
                longest = Math.max(longest, trainer.finish());
            }
            System.out.printf(
                    "one of %d nodes is killed in its second epoch: every byte of the others right, longest read %.2f s, %.4f of the data from the source after it%n",
                    NODES, longest, (double) (source.counted().bytes() - before) / DATASET);
        }
    }

    private static String partial(double share) {
        return "sampler=partial-local exchange=" + share;
    }

    private Run train(String job, String order, Path dataset, SlowMount source, long cache, long linkBytes)
            throws Exception {
        NodeGroup group = mount(dataset, source, cache, linkBytes);
        long before = source.counted().bytes();
        List<RankTrainer> trainers = new ArrayList<>();
        startTrainers(group, training(job, order), trainers);
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(1);
        }
        long first = source.counted().bytes() - before;
        long peerFirst = fromPeers(group);
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(EPOCHS - 1 - trainer.epochs().size());
        }
        for (RankTrainer trainer : trainers) {
            Files.createFile(trainer.stop());
        }
        int read = 0;
        for (RankTrainer trainer : trainers) {
            trainer.finish();
            read += trainer.epochs().size();
        }
        long all = source.counted().bytes() - before;
        long peer = fromPeers(group) - peerFirst;
        long exchanged = exchanged(group);
        for (LiveMount node : group.nodes()) {
            assertThat(node.status().at("/jobs/0/in_sync").asBoolean()).isTrue();
            fixture.clairfs("umount", node.point()).succeeded();
        }
        return new Run(
                RankTrainer.epochSeconds(trainers),
                (double) peer * NODES / (read - NODES) / DATASET,
                (double) exchanged / SAMPLES,
                (double) first / DATASET,
                (double) (all - first) / DATASET);
    }

    private NodeGroup mount(Path dataset, SlowMount source, long cache, long linkBytes) throws Exception {
        NodeNetwork network = fixture.network(NODES, linkBytes);
        NodeGroup.Storage storage = _ -> List.of("--memory", cache + "B", "--staging", "4MiB", "--loaders", "4");
        return NodeGroup.of(fixture, dataset, SAMPLES, source.point(), network, storage)
                .mount(NODES);
    }

    private static Training training(String job, String order) {
        return new Training(job, 7, Training.NO_END, BATCH, STEP_MS, order + " epochs=" + PLANNED);
    }

    private static void startTrainers(NodeGroup group, Training training, List<RankTrainer> trainers) throws Exception {
        for (int rank = 0; rank < NODES; rank++) {
            trainers.add(group.plain(training, rank));
        }
        for (RankTrainer trainer : trainers) {
            trainer.awaitReady();
        }
        group.start(training);
    }

    private static long exchanged(NodeGroup group) throws Exception {
        long samples = 0;
        for (LiveMount node : group.nodes()) {
            samples += node.status().at("/jobs/0/exchange/receives").asLong();
        }
        return samples;
    }

    private static long fromPeers(NodeGroup group) throws Exception {
        long bytes = 0;
        for (LiveMount node : group.nodes()) {
            bytes += node.status().at("/fetched/peer/bytes").asLong();
        }
        return bytes;
    }
}
