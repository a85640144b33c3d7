package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** A real DataLoader opens samples inside the window that its workers and prefetch factor allow, and no further ahead. */
@Timeout(600)
final class LoaderWindowTest {
    private static final int SAMPLES = 700;
    private static final int BATCH = 8;
    private static final int EPOCHS = 2;
    private static final int SEED = 77;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @ParameterizedTest(name = "{0} workers, prefetch factor {1}")
    @CsvSource("2,2")
    void opens_lieInsideThePredictedWindow(int workers, int prefetch) throws Exception {
        requireOpensInsideTheWindow(workers, prefetch);
    }

    @Tag("exhaustive")
    @ParameterizedTest(name = "{0} workers, prefetch factor {1}")
    @CsvSource("0,2")
    void opensWithoutWorkers_lieInsideThePredictedWindow(int workers, int prefetch) throws Exception {
        opens_lieInsideThePredictedWindow(workers, prefetch);
    }

    @Tag("exhaustive")
    @Test
    void opensOfMoreWorkers_lieInsideThePredictedWindow() throws Exception {
        requireOpensInsideTheWindow(3, 4);
    }

    private void requireOpensInsideTheWindow(int workers, int prefetch) throws Exception {
        Requirements.torch();
        LiveMount mount = fixture.mount(makeSource(), "--staging", "4MiB");
        mount.awaitReady();
        Path record = fixture.directory().resolve("opens");
        fixture.python("record_opens.py", mount.point(), BATCH, workers, prefetch, EPOCHS, SEED, record);

        List<Integer> opens =
                Files.readAllLines(record).stream().map(Integer::valueOf).toList();
        assertThat(opens).hasSize(SAMPLES * EPOCHS);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            List<Integer> predicted = mount.order("train", epoch, 0).stream()
                    .map(Integer::valueOf)
                    .toList();
            int window = Math.max(1, workers * prefetch * BATCH);
            requireInsideWindow(opens.subList(epoch * SAMPLES, (epoch + 1) * SAMPLES), predicted, window);
        }
        JsonNode job = mount.await(
                        "all read", s -> s.path("jobs").path(0).path("done").asBoolean())
                .path("jobs")
                .path(0);
        assertThat(job.path("in_sync").asBoolean()).isTrue();
        assertThat(job.path("window").asInt()).isEqualTo(Math.max(1, workers) * prefetch * BATCH);
    }

    /** Every open lies less than {@code window} positions after the first position that is not opened yet. */
    private static void requireInsideWindow(List<Integer> opens, List<Integer> predicted, int window) {
        boolean[] opened = new boolean[SAMPLES];
        List<Integer> positions = new ArrayList<>();
        for (int i = 0; i < SAMPLES; i++) {
            positions.add(0);
        }
        for (int p = 0; p < SAMPLES; p++) {
            positions.set(predicted.get(p), p);
        }
        int first = 0;
        for (int open : opens) {
            int position = positions.get(open);
            assertThat(opened[position]).as("opened twice").isFalse();
            assertThat(position - first).as("ahead of the first unopened").isBetween(0, window - 1);
            opened[position] = true;
            while (first < SAMPLES && opened[first]) {
                first++;
            }
        }
    }

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(source.resolve("c" + i % 7));
            Files.write(directory.resolve("s" + i + ".png"), new byte[1 + i % 3000]);
        }
        return source;
    }
}
