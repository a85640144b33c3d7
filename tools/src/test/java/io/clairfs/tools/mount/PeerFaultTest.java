package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node of a group dies or hangs in the middle of an epoch: the trainers of the others go on and get the right bytes. */
@Timeout(300)
final class PeerFaultTest {
    private static final int NODES = 3;
    private static final int SAMPLES = 300;
    private static final int SAMPLE_BYTES = 30_000;
    private static final int EPOCHS = 3;
    private static final int PAUSE_US = 4_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @ParameterizedTest
    @ValueSource(strings = {"KILL", "STOP"})
    void the_others_finish_with_the_right_bytes(String signal) throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(100_000_000, Duration.ofMillis(1)))) {
            NodeGroup group =
                    NodeGroup.mount(fixture, dataset, SAMPLES, source, NODES, (long) SAMPLES * SAMPLE_BYTES / 2);
            group.job("seed=4 epochs=" + EPOCHS + " batch=4");
            List<LiveMount> nodes = group.nodes();
            long victim = nodes.getLast().pid();
            try (ExecutorService trainers = Executors.newFixedThreadPool(NODES)) {
                List<Future<?>> running = new ArrayList<>();
                for (int rank = 0; rank < NODES - 1; rank++) {
                    int mine = rank;
                    running.add(trainers.submit(() -> {
                        group.train(mine, EPOCHS, PAUSE_US);
                        return null;
                    }));
                }
                nodes.getFirst()
                        .await("in the second epoch", s -> s.at("/jobs/0/epoch").asInt() >= 1);
                Ended.run(List.of("kill", "-" + signal, Long.toString(victim)), Map.of())
                        .succeeded();
                for (Future<?> trainer : running) {
                    trainer.get();
                }
                nodes.getFirst()
                        .await(
                                "without the dead one",
                                s -> s.path("peers").size() < NODES - 1
                                        || s.path("peers")
                                                .valueStream()
                                                .anyMatch(p -> !p.path("alive").asBoolean()));
                assertThat(nodes.getFirst().status().at("/reads/errors").asInt())
                        .isZero();
            } finally {
                Ended.run(List.of("kill", "-KILL", Long.toString(victim)), Map.of());
            }
        }
    }
}
