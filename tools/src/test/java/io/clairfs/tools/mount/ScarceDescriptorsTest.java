package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A daemon with a low limit on descriptors stages as many samples as any other. */
@Timeout(600)
final class ScarceDescriptorsTest {
    private static final int SAMPLES = 700;
    private static final int DESCRIPTORS = 160;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private static String[] withFewDescriptors(String[] command) {
        List<String> limited = new ArrayList<>(List.of("prlimit", "--nofile=" + DESCRIPTORS + ":" + DESCRIPTORS));
        limited.addAll(List.of(command));
        return limited.toArray(String[]::new);
    }

    // Promise M4
    @Test
    void all_samples_are_staged_and_read_right_with_fewer_descriptors_than_samples() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("cat"), SAMPLES, 3_000);
        LiveMount mount = fixture.mountAt(
                ScarceDescriptorsTest::withFewDescriptors,
                fixture.newDirectory("mnt"),
                source,
                "--memory",
                "256KiB",
                "--ssd",
                Files.createDirectories(fixture.directory().resolve("ssd")) + ":64MiB");
        mount.awaitReady();
        mount.job("seed=1 epochs=3");
        JsonNode staged = mount.await("staged", s -> s.at("/staging/samples").asInt() == SAMPLES);
        assertThat(staged.at("/process/descriptors").asInt()).isLessThan(DESCRIPTORS);
        for (int epoch = 0; epoch < 3; epoch++) {
            assertThat(fixture.python("read_in_order.py", mount.point(), source, "train", epoch, SAMPLES, 100, 0))
                    .isEqualTo(SAMPLES + "\n");
        }
        assertThat(mount.read("errors")).isEmpty();
        assertThat(mount.status().at("/reads/errors").asLong()).isZero();
        assertThat(mount.status().at("/reads/upcalls").asLong())
                .as("of three times all samples; more only when the kernel takes pages back meanwhile")
                .isLessThan(SAMPLES / 2);
    }
}
