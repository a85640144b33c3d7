package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.tools.simulate.PolicyResult;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the simulator's prediction for a scenario with a real run: nodes in networks of their own, the scenario's source and links,
 * plain readers that compute at its rate. {@code .ci/long-run predictions} runs it.
 *
 * <p>It prints its measurements, and fails where the prediction of an epoch or of the source's bytes was wrong by more than this. On a machine that is
 * busy otherwise it will.
 */
@Timeout(600)
final class PredictionsBenchmark {
    private static final double MEGA = 1e6;
    private static final double EPOCHS_WITHIN = 0.10;
    private static final double BYTES_WITHIN = 0.02;

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    @ParameterizedTest
    @ValueSource(strings = {"two-nodes-memory-and-ssd", "four-nodes-room-for-all", "four-nodes-room-for-some"})
    void what_is_predicted_happens(String name) throws Exception {
        Scenario scenario = scenario(name);
        PolicyResult predicted = Simulator.run(scenario, List.of("clairfs"), new Silent())
                .policies()
                .getFirst();
        int samples = scenario.dataset().samples();
        int bytes = (int) Math.round(scenario.dataset().mean() * MEGA);
        long rate = Math.round(
                Objects.requireNonNull(scenario.sourceTotal()).byThreads().get(scenario.nodes()) * MEGA);
        Path dataset = NodeGroup.makeSamples(fixture, samples, bytes);
        NodeNetwork network = fixture.network(scenario.nodes(), Math.round(scenario.network() * MEGA));
        try (SlowMount source =
                SlowMount.mount(dataset, fixture.newDirectory("slow"), new SlowSourceSpec(rate, Duration.ZERO))) {
            NodeGroup group = NodeGroup.of(fixture, dataset, samples, source.point(), network, _ -> storage(scenario))
                    .mount(scenario.nodes());
            double stepMs = scenario.batch() * scenario.dataset().mean() / scenario.compute() * 1e3;
            Training training = new Training("train", scenario.seed(), scenario.epochs(), scenario.batch(), stepMs);
            List<RankTrainer> trainers = new ArrayList<>();
            for (int rank = 0; rank < scenario.nodes(); rank++) {
                trainers.add(group.plain(training, rank));
                trainers.getLast().awaitReady();
            }
            group.start(training);
            for (RankTrainer trainer : trainers) {
                trainer.finished();
            }
            report(
                    name,
                    predicted,
                    RankTrainer.epochSeconds(trainers),
                    source.counted().bytes());
        }
    }

    private static void report(String name, PolicyResult predicted, double[] seconds, long read) {
        System.out.printf("%s%nepoch  predicted  happened   ratio%n", name);
        for (int epoch = 0; epoch < seconds.length; epoch++) {
            double expected = predicted.epochs().get(epoch);
            System.out.printf(
                    "%5d  %7.2f s %7.2f s %7.3f%n", epoch + 1, expected, seconds[epoch], seconds[epoch] / expected);
        }
        double all = Arrays.stream(seconds).sum();
        long expected = predicted.fetched().source().bytes();
        System.out.printf("  all  %7.2f s %7.2f s %7.3f%n", predicted.seconds(), all, all / predicted.seconds());
        System.out.printf("source %6.1f MB %6.1f MB %7.3f%n", expected / MEGA, read / MEGA, (double) read / expected);
        for (int epoch = 0; epoch < seconds.length; epoch++) {
            assertThat(seconds[epoch] / predicted.epochs().get(epoch))
                    .as("%s: epoch %d over its prediction", name, epoch + 1)
                    .isCloseTo(1, within(EPOCHS_WITHIN));
        }
        assertThat((double) read / expected)
                .as("%s: bytes over their prediction", name)
                .isCloseTo(1, within(BYTES_WITHIN));
    }

    private static Scenario scenario(String name) throws IOException {
        Path file = Files.createTempFile(name, ".yaml");
        try (InputStream in = PredictionsBenchmark.class.getResourceAsStream(name + ".yaml")) {
            Files.write(file, in.readAllBytes());
            return ScenarioFile.load(file.toString());
        } finally {
            Files.delete(file);
        }
    }

    private List<String> storage(Scenario scenario) throws IOException {
        List<String> options = new ArrayList<>(
                List.of("--loaders", Integer.toString(scenario.staging().threads())));
        options.addAll(List.of("--staging", bytes(scenario.staging().capacity())));
        for (Scenario.Device device : scenario.classes()) {
            if (device.name().equals("memory")) {
                options.addAll(List.of("--memory", bytes(device.capacity())));
            } else {
                options.addAll(List.of("--ssd", fixture.newDirectory("ssd") + ":" + bytes(device.capacity())));
                options.addAll(List.of("--ssd-reserve", "1MiB"));
            }
        }
        return options;
    }

    private static String bytes(double megabytes) {
        return Math.round(megabytes * MEGA) + "B";
    }

    /** Ignores the progress. */
    private static final class Silent implements Simulator.Listener {
        @Override
        public void begin(String policy, long iterations) {}

        @Override
        public void at(long iterations) {}

        @Override
        public void end() {}
    }
}
