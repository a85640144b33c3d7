package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The real client: PyTorch's DataLoader with worker processes reads every sample right, in the predicted order, mostly without requests to
 * the daemon.
 */
@Timeout(1200)
class PyTorchTest {
    private static final int SAMPLES = 400;
    private static final int EPOCHS = 3;
    private static final long SEED = 20_261_121;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    // Promise R4
    @Test
    void every_sample_of_every_epoch_is_the_source_s_and_comes_in_the_predicted_order() throws Exception {
        Requirements.torch();
        Path source = makeImages();
        LiveMount mount = fixture.mount(source);
        mount.awaitReady();
        mount.job("seed=" + SEED + " epochs=" + EPOCHS + " batch=16 workers=2");

        String said = fixture.python("trainer.py", mount.point(), source, "train", SEED, EPOCHS);
        JsonNode epochs = new JsonMapper().readTree(said);
        assertThat(epochs.size()).isEqualTo(EPOCHS);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            JsonNode read = epochs.path(epoch);
            assertThat(read.path("right").asInt())
                    .as("right bytes in epoch %d", epoch)
                    .isEqualTo(SAMPLES);
            List<String> order = StreamSupport.stream(read.path("order").spliterator(), false)
                    .map(JsonNode::toString)
                    .toList();
            assertThat(order).as("order of epoch %d", epoch).isEqualTo(mount.order("train", epoch, 0));
        }
        assertThat(mount.order("train", 0, 0)).isNotEqualTo(mount.order("train", 1, 0));

        JsonNode status = mount.await("read", s -> s.at("/jobs/0/done").asBoolean());
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
        // A worker that is delayed for long counts as another reader.
        assertThat(status.at("/jobs/0/deviations").asInt()).isLessThan(EPOCHS * SAMPLES / 10);
        assertThat(status.at("/reads/opened").asInt()).isEqualTo(EPOCHS * SAMPLES);
        assertThat(status.at("/reads/upcalls").asInt()).as("most never asked").isLessThan(EPOCHS * SAMPLES / 4);
        assertThat(status.at("/fetched/source/count").asInt()).isEqualTo(SAMPLES);
        assertThat(mount.lines("errors")).isEmpty();
    }

    private Path makeImages() throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(1);
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(source.resolve("class" + i % 7));
            byte[] content = new byte[1_000 + random.nextInt(60_000)];
            random.nextBytes(content);
            Files.write(directory.resolve("image" + i + ".jpg"), content);
        }
        return source;
    }
}
