package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two trainers whose nodes have a part of a processor each, in a view that no tier can hold: alone, beside a node without ranks that makes their
 * samples, and beside one that is killed in the middle. {@code .ci/long-run offload} runs it.
 *
 * <p>Only wrong bytes make it fail. {@code -Dclairfs.offload.cores=0.5} is what a trainer's node has, its trainer included; {@code
 * -Dclairfs.offload.step=100} the milliseconds of computation on each of its batches.
 */
@Timeout(1800)
final class OffloadBenchmark {
    private static final int TRAINERS = 2;
    private static final int SAMPLES = Integer.getInteger("clairfs.offload.samples", 320);
    private static final int BATCH = 8;
    private static final int EPOCHS = 4;
    private static final String VIEW = "decode,shorter=224";
    private static final double CORES = Double.parseDouble(System.getProperty("clairfs.offload.cores", "0.5"));
    private static final int WIDTH = Integer.getInteger("clairfs.offload.width", 1_200);
    private static final int HEIGHT = WIDTH / 4 * 3;
    private static final double STEP_MS = Double.parseDouble(System.getProperty("clairfs.offload.step", "100"));
    private static final double COMPUTE_SECONDS = STEP_MS / 1e3 * SAMPLES / (TRAINERS * BATCH);

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    private Path source;
    private Path shown;

    @BeforeEach
    void makeImages() throws Exception {
        source = fixture.newDirectory("source");
        shown = fixture.newDirectory("shown");
        long bytes = ShownImages.make(source, shown, VIEW, SAMPLES, WIDTH, HEIGHT);
        System.out.printf(
                Locale.ROOT,
                "%d images of %dx%d, shown as %d bytes; %.2f processors for each trainer's node, %.1f ms a step of %d: compute alone %.2f s%n",
                SAMPLES,
                WIDTH,
                HEIGHT,
                bytes / SAMPLES,
                CORES,
                STEP_MS,
                BATCH,
                COMPUTE_SECONDS);
    }

    @Test
    void trainersWithFewProcessors_aloneAndBesideANodeThatMakesTheirSamples() throws Exception {
        for (String form : List.of("made", "raw")) {
            double[] alone = train("alone-" + form, form, false, false);
            double[] offloaded = train("offloaded-" + form, form, true, false);
            System.out.printf(
                    Locale.ROOT,
                    "%s kept: offloaded %.2f x as fast; epoch / compute alone %.2f; processor time of trainers' nodes %.0f %% less%n",
                    form,
                    alone[0] / offloaded[0],
                    offloaded[0] / COMPUTE_SECONDS,
                    100 * (1 - offloaded[1] / alone[1]));
        }
        double[] _ = train("killed", "made", true, true);
    }

    /** Returns the seconds of an epoch after the first, and the processor seconds of the trainers' nodes for a sample meanwhile. */
    private double[] train(String name, String form, boolean maker, boolean kill) throws Exception {
        NodeNetwork network = fixture.network(TRAINERS + 1, 1_000_000_000L);
        NodeGroup group = NodeGroup.of(fixture, shown, SAMPLES, source, network, _ -> List.of());
        List<CpuGroup> limits = new ArrayList<>();
        try {
            for (int node = 0; node < TRAINERS + (maker ? 1 : 0); node++) {
                CpuGroup limit = CpuGroup.create();
                limits.add(limit);
                mount(group, network, node, limit, form);
            }
            group.awaitWhole();
            return train(name, group, network, limits, maker, kill);
        } finally {
            for (int node = 0; node < group.nodes().size(); node++) {
                Ended _ = fixture.clairfs("umount", group.nodes().get(node).point());
            }
            for (CpuGroup limit : limits) {
                limit.close();
            }
            network.remove();
        }
    }

    private void mount(NodeGroup group, NodeNetwork network, int node, CpuGroup limit, String form)
            throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(List.of("--view", VIEW, "--view-cache", form, "--index-rule", "sorted"));
        options.addAll(List.of("--memory", "1KiB", "--staging", "4MiB", "--loaders", "8"));
        options.addAll(List.of("--bind", group.bind(node), "--members", group.bind(0) + "," + group.bind(1)));
        options.addAll(List.of("--secret-file", group.secret().toString()));
        group.nodes()
                .add(fixture.mountAt(
                        command -> limit.inside(network.inside(node, command)),
                        fixture.newDirectory("mnt"),
                        source,
                        options.toArray(String[]::new)));
        group.pids().add(group.nodes().getLast().pid());
    }

    private double[] train(
            String name, NodeGroup group, NodeNetwork network, List<CpuGroup> limits, boolean maker, boolean kill)
            throws Exception {
        Training training = new Training(name, 5, EPOCHS, BATCH, STEP_MS);
        if (maker) {
            group.startOffloaded(training, TRAINERS, TRAINERS);
        } else {
            for (int node = 0; node < TRAINERS; node++) {
                group.nodes().get(node).job(training.line() + " world=" + TRAINERS + " ranks=" + node);
            }
        }
        List<RankTrainer> trainers = new ArrayList<>();
        for (int node = 0; node < TRAINERS; node++) {
            trainers.add(trainer(training, group, network, node, limits.get(node)));
        }
        for (RankTrainer trainer : trainers) {
            trainer.awaitReady();
        }
        for (int node = 0; node < TRAINERS; node++) {
            limits.get(node).limit(CORES); // from now on: the start of a program is not what is measured
        }
        group.begin(training);
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(1);
        }
        double usedBefore = limits.get(0).usedSeconds() + limits.get(1).usedSeconds();
        long readBefore = read(trainers);
        if (kill) {
            Thread.sleep((long) (500 * COMPUTE_SECONDS));
            ProcessHandle.of(group.pids().get(TRAINERS)).orElseThrow().destroyForcibly();
        }
        double longest = 0;
        for (RankTrainer trainer : trainers) {
            longest = Math.max(longest, trainer.finished());
        }
        double used = limits.get(0).usedSeconds() + limits.get(1).usedSeconds() - usedBefore;
        double perSample = used / (read(trainers) - readBefore);
        double[] seconds = RankTrainer.epochSeconds(trainers);
        System.out.printf(
                Locale.ROOT,
                "  %-16s epochs %s s; processor time %.2f ms a sample; longest read %.2f s%n",
                name,
                Arrays.toString(Arrays.stream(seconds)
                        .map(each -> Math.round(each * 100) / 100.0)
                        .toArray()),
                perSample * 1e3,
                longest);
        for (int node = 0; node < group.nodes().size() - (kill ? 1 : 0); node++) {
            System.out.println(
                    "    node " + node + ": " + group.nodes().get(node).status().path("view"));
        }
        double[] later = Arrays.copyOfRange(seconds, 1, seconds.length);
        Arrays.sort(later);
        return new double[] {later[later.length / 2], perSample};
    }

    private RankTrainer trainer(Training training, NodeGroup group, NodeNetwork network, int node, CpuGroup limit)
            throws IOException {
        String name = training.job() + "-" + node;
        Path stop = fixture.directory().resolve(name + ".stop");
        List<String> command = fixture.pythonCommand(
                "rank_reader.py",
                group.nodes().get(node).point(),
                shown,
                training.job(),
                node,
                TRAINERS,
                training.epochs(),
                training.batch(),
                training.computeMs(),
                stop,
                fixture.directory().resolve(training.job() + ".go"));
        String[] placed = limit.inside(network.inside(node, command.toArray(String[]::new)));
        return new RankTrainer(name, fixture.start(name, List.of(placed)), fixture.said(name), stop);
    }

    private static long read(List<RankTrainer> trainers) throws IOException {
        long read = 0;
        for (RankTrainer trainer : trainers) {
            for (var epoch : trainer.epochs()) {
                assertThat(epoch.path("equal").asInt())
                        .isEqualTo(epoch.path("read").asInt());
                read += epoch.path("read").asLong();
            }
        }
        return read;
    }
}
