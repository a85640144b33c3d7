package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The options and commands around tiers, as a user types them. */
@Timeout(600)
final class TierOptionsTest {
    private static final int SAMPLES = 120;
    private static final int SAMPLE_BYTES = 20_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("cat"), SAMPLES, SAMPLE_BYTES);
        return source;
    }

    @Test
    @Execution(CONCURRENT)
    void where_tellsTheTiersThePlanAndTheNextRead() throws Exception {
        LiveMount mount = fixture.mount(
                makeSource(),
                "--memory",
                SAMPLES * SAMPLE_BYTES / 4 + "B",
                "--ssd",
                fixture.newDirectory("ssd") + ":10MB",
                "--ssd-reserve",
                "1MiB");
        mount.awaitReady();
        mount.job("seed=1 epochs=2 batch=8");
        // A sample fetched while the plan is being made may go to the SSD before the plan wants it in memory. Then both
        // have it.
        Waiting.until("each sample is where the plan wants it", () -> placesByPlan(mount) == SAMPLES);
        assertThat(mount.status().at("/tiers/0/samples").asInt()).isEqualTo(SAMPLES / 4);
        String first = mount.lines("index")
                .get(Integer.parseInt(mount.order("train", 0, 0).getFirst()));
        String last = mount.lines("index")
                .get(Integer.parseInt(mount.order("train", 0, 0).getLast()));

        String said = fixture.clairfs(
                        "where", mount.point(), first, mount.point().resolve(last), "--json")
                .succeeded();
        JsonNode[] answers =
                said.lines().map(line -> new JsonMapper().readTree(line)).toArray(JsonNode[]::new);
        assertThat(answers[0].at("/at/tiers/0").asString()).isEqualTo("memory");
        assertThat(answers[0].at("/at/planned").asString()).isEqualTo("memory");
        assertThat(answers[0].at("/at/next_uses/0/samples_before").asInt()).isZero();
        assertThat(answers[1].at("/at/tiers/0").asString()).isEqualTo("ssd");
        assertThat(answers[1].at("/at/next_uses/0/epoch").asInt()).isZero();
        assertThat(answers[1].at("/at/next_uses/0/samples_before").asInt()).isEqualTo(SAMPLES - 1);
        assertThat(fixture.clairfs("where", mount.point(), first).succeeded()).contains("held in:", "memory");
        assertThat(fixture.clairfs("where", mount.point(), "no/such.jpg").complainedWith(1))
                .contains("no/such.jpg is not a file of this dataset");
    }

    /** The number of samples that are in their planned tier. */
    private long placesByPlan(LiveMount mount) throws IOException, InterruptedException {
        List<Object> command = new ArrayList<>(List.of("where", mount.point(), "--json"));
        command.addAll(mount.lines("index"));
        return fixture.clairfs(command.toArray())
                .succeeded()
                .lines()
                .map(line -> new JsonMapper().readTree(line).path("at"))
                .filter(at -> at.path("tiers").valueStream().anyMatch(at.path("planned")::equals))
                .count();
    }

    @Test
    @Execution(CONCURRENT)
    void calibrate_writesWhatMountReads() throws Exception {
        Path source = makeSource();
        for (int i = 0; i < SAMPLES; i++) {
            ImageIO.write(
                    new BufferedImage(16 + i, 64, BufferedImage.TYPE_INT_RGB),
                    "jpg",
                    source.resolve("cat/" + i + ".jpg").toFile());
        }
        Path model = fixture.directory().resolve("model.yaml");
        assertThat(fixture.clairfs("calibrate", source, "--decode", "video").complainedWith(2))
                .contains("--decode video: 'video' is no way to decode; known: ");
        fixture.clairfs("calibrate", source, "--memory", "--decode", "image", "--seconds", "0.02", "--write", model)
                .succeeded();
        assertThat(Files.readString(model)).contains("source:", "latency:", "read:", "memory:", "decode:", "image:");
        LiveMount mount = fixture.mount(source, "--config", model.toString());
        assertThat(mount.awaitReady().path("samples").asInt()).isEqualTo(SAMPLES);
    }

    @ParameterizedTest
    @Execution(CONCURRENT)
    @CsvSource(
            delimiter = '|',
            value = {"--ssd | /tmp:10KB | at least 1MiB", "--bind | 192.0.2.1:5701 | needs --secret-file"})
    void wrongOption_isRefusedInOneLine(String option, String value, String said) throws Exception {
        assertThat(fixture.clairfs("mount", makeSource(), fixture.newDirectory("mnt"), option, value)
                        .complainedWith(2))
                .contains(said);
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @Execution(CONCURRENT)
    @CsvSource(
            delimiter = '|',
            value = {
                "--ssd | /tmp | must be DIR:SIZE",
                "--ssd | /tmp:lots | is not a size",
                "--policy | belady | is none of",
                "--loader-sharing | random | is none of",
                "--members | 127.0.0.1 | needs --bind",
                "--bind | 0.0.0.0 | must be one address"
            })
    void furtherWrongOption_isRefusedInOneLine(String option, String value, String said) throws Exception {
        wrongOption_isRefusedInOneLine(option, value, said);
    }

    @Test
    @Execution(CONCURRENT)
    void ssdInUse_isRefusedWithTheRemedy() throws Exception {
        Path source = makeSource();
        Path disk = fixture.newDirectory("ssd");
        LiveMount first = fixture.mount(source, "--ssd", disk + ":10MB", "--ssd-reserve", "1MiB");
        first.awaitReady();
        Ended second = fixture.clairfs(
                "mount", source, fixture.newDirectory("mnt"), "--ssd", disk + ":10MB", "--ssd-reserve", "1MiB");
        assertThat(second.complainedWith(1)).contains("another mount");
    }
}
