package io.clairfs.tools.mount;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.fs.slow.SourceReads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Four nodes with PyTorch's DataLoader, each in its own network, on a shared source. They train first on the source itself, then through
 * clairfs, with caches for 30 % of the data each and links ten times as fast as the source. {@code .ci/long-run cluster} runs it.
 *
 * <p>Only wrong bytes make it fail. It prints its measurements; judge them by how busy the machine was.
 */
@Timeout(600)
final class ClusterBenchmark {
    private static final int NODES = 4;
    private static final int SAMPLES = 4_000;
    private static final int SAMPLE_BYTES = 120_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int BATCH = 20;
    private static final double STEP_MS = 88;
    private static final double COMPUTE_SECONDS = SAMPLES / NODES / BATCH * STEP_MS / 1e3;
    private static final long SOURCE_BYTES_PER_SECOND = 30_000_000;

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    @Test
    void training_through_clairfs_and_on_the_source() throws Exception {
        Requirements.torch();
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        NodeNetwork network = fixture.network(NODES, 10 * SOURCE_BYTES_PER_SECOND);
        try (SlowMount source = SlowMount.mount(
                dataset,
                fixture.newDirectory("slow"),
                new SlowSourceSpec(SOURCE_BYTES_PER_SECOND, Duration.ofMillis(2)))) {
            String cache = DATASET * 3 / 10 + "B";
            NodeGroup group = NodeGroup.of(
                    fixture,
                    dataset,
                    SAMPLES,
                    source.point(),
                    network,
                    _ -> List.of("--memory", cache, "--staging", "32MiB", "--loaders", "8"));

            Training direct = new Training("direct", 11, 2, BATCH, STEP_MS);
            double[] directly = train(rank -> group.direct(direct, rank, NODES), () -> group.begin(direct));

            group.mount(NODES);
            SourceReads before = source.counted();
            Training mounted = new Training("mounted", 11, 4, BATCH, STEP_MS);
            double[] through = train(rank -> group.torch(mounted, rank), () -> group.start(mounted));
            long read = source.counted().since(before).bytes();
            report(directly, through, (double) read / DATASET);
        }
    }

    /** A start that may fail. */
    @FunctionalInterface
    private interface Start {
        void run() throws Exception;
    }

    /** Makes a trainer for a rank. */
    @FunctionalInterface
    private interface Trainers {
        RankTrainer of(int rank) throws Exception;
    }

    private static double[] train(Trainers make, Start start) throws Exception {
        List<RankTrainer> trainers = new ArrayList<>();
        for (int rank = 0; rank < NODES; rank++) {
            trainers.add(make.of(rank));
        }
        for (RankTrainer trainer : trainers) {
            trainer.awaitReady();
        }
        start.run();
        for (RankTrainer trainer : trainers) {
            trainer.finished();
        }
        return RankTrainer.epochSeconds(trainers);
    }

    private static void report(double[] directly, double[] through, double readOfOne) {
        IntFunction<String> ofDirect =
                epoch -> epoch < directly.length ? "%8.2f".formatted(directly[epoch]) : "        ";
        System.out.printf("epoch  direct  mounted  compute only (seconds)%n");
        for (int epoch = 0; epoch < through.length; epoch++) {
            System.out.printf("%5d%s %8.2f %8.2f%n", epoch + 1, ofDirect.apply(epoch), through[epoch], COMPUTE_SECONDS);
        }
        double slow = Arrays.stream(directly).average().orElseThrow();
        double fast = Arrays.stream(through).skip(1).average().orElseThrow();
        System.out.printf(
                "epochs 2 on: %.2f times as fast as directly, %.3f of compute only; source: %.4f of the dataset in all%n",
                slow / fast, fast / COMPUTE_SECONDS, readOfOne);
    }
}
