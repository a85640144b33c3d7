package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A trainer that tells nothing is followed by what its first reads tell, if they tell anything. Its bytes are right either way. */
@Timeout(300)
final class FindSeedTest {
    private static final int SAMPLES = 960;
    private static final int CLASSES = 6;
    private static final int EPOCHS = 3;
    private static final int LARGEST = 20_000;

    /** Reads files in name order, or shuffled by a number of nobody's, and prints how many equal the source's. */
    private static final String READ = """
            import os, random, sys
            mount, source, order, count = sys.argv[1:5]
            files = sorted(os.path.join(d, f) for d in sorted(os.listdir(source)) for f in os.listdir(os.path.join(source, d)))
            if order == "shuffled":
                random.Random(os.urandom(16)).shuffle(files)
            equal = 0
            for file in files[:int(count)]:
                with open(os.path.join(mount, file), "rb") as got, open(os.path.join(source, file), "rb") as right:
                    equal += got.read() == right.read()
            print(equal)
            """;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(5);
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(source.resolve("class" + i % CLASSES));
            byte[] content = new byte[random.nextInt(1, LARGEST)];
            random.nextBytes(content);
            Files.write(directory.resolve("image" + i + ".jpg"), content);
        }
        return source;
    }

    private LiveMount mount(Path source, String... options) throws IOException, InterruptedException {
        LiveMount mount = fixture.mount(source, options);
        mount.awaitReady();
        return mount;
    }

    private JsonNode train(LiveMount mount, Path source, String order, int epochs)
            throws IOException, InterruptedException {
        String said = fixture.python("untold_trainer.py", mount.point(), source, order, 1234, epochs);
        JsonNode read = new JsonMapper().readTree(said);
        assertThat(read.size()).isEqualTo(epochs);
        read.forEach(epoch -> assertThat(epoch.path("right").asInt()).isEqualTo(SAMPLES));
        return read;
    }

    private void read(LiveMount mount, Path source, String order, int count) throws IOException, InterruptedException {
        assertThat(fixture.python(READ, mount.point(), source, order, count).strip())
                .isEqualTo(Integer.toString(count));
    }

    private static String state(JsonNode status) {
        return status.at("/find_seed/state").asString();
    }

    // Promise S1, S2
    @Test
    void training_that_tells_nothing_is_found_and_followed_until_a_user_writes_a_job() throws Exception {
        Requirements.torch();
        Path source = makeSource();
        LiveMount mount = mount(source);
        JsonNode epochs = train(mount, source, "distributed", EPOCHS);

        JsonNode status = mount.status();
        assertThat(state(status)).isEqualTo("found");
        assertThat(status.at("/find_seed/line").asString()).contains("seed=1234", "world=2", "ranks=0-1");
        assertThat(status.at("/jobs/0/name").asString()).isEqualTo("found");
        assertThat(status.at("/jobs/0/found").asBoolean()).isTrue();
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
        assertThat(status.at("/jobs/0/epoch").asInt()).isGreaterThanOrEqualTo(EPOCHS - 1);
        assertThat(mount.read("status")).contains("found: torch-distributed seed=1234 world=2 ranks=0-1, epoch ");
        int afterFirst = epochs.at("/0/upcalls").asInt();
        int afterLast = epochs.at("/2/upcalls").asInt();
        assertThat(afterLast - afterFirst).as("reads that had to ask").isLessThan((EPOCHS - 1) * SAMPLES / 20);

        mount.job("seed=1 epochs=2");
        status = mount.await("off", s -> state(s).equals("off"));
        assertThat(status.path("jobs").size()).isEqualTo(1);
        assertThat(status.at("/jobs/0/name").asString()).isEqualTo("train");
        assertThat(status.at("/jobs/0/found").asBoolean()).isFalse();
        mount.job("stop=train");
        mount.await("collecting", s -> state(s).equals("collecting"));
        assertThat(mount.lines("errors")).isEmpty();
    }

    // Promise S3
    @Test
    void order_that_nobody_can_predict_is_not_found() throws Exception {
        Requirements.torch();
        Path source = makeSource();
        LiveMount mount = mount(source);
        train(mount, source, "weighted", 1);
        JsonNode status = mount.await(
                "searched",
                s -> s.at("/find_seed/reads").asInt() >= 200
                        && s.at("/find_seed/candidates").asLong() > 0);
        assertThat(status.path("jobs").isEmpty()).isTrue();
        assertThat(state(status)).isIn("collecting", "searching", "none");
        assertThat(status.at("/find_seed/line").isNull()).isTrue();
    }

    // Promise S4
    @Test
    void reads_that_contradict_it_drop_what_was_found() throws Exception {
        Path source = makeSource();
        LiveMount mount = mount(source);
        read(mount, source, "sorted", SAMPLES / 4);
        JsonNode status = mount.await("found", s -> state(s).equals("found"));
        assertThat(status.at("/jobs/0/sampler").asString()).isEqualTo("sequential");
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();

        read(mount, source, "shuffled", SAMPLES);
        status = mount.await("dropped", s -> s.path("jobs").isEmpty());
        assertThat(status.at("/find_seed/note").asString()).contains("contradicted");
    }

    // Promise S5
    @Test
    void mount_without_the_search_finds_nothing() throws Exception {
        Path source = makeSource();
        LiveMount mount = mount(source, "--find-seed", "off");
        read(mount, source, "sorted", SAMPLES / 4);
        JsonNode status = mount.status();
        assertThat(state(status)).isEqualTo("off");
        assertThat(status.at("/find_seed/reads").asInt()).isZero();
        assertThat(status.path("jobs").isEmpty()).isTrue();
        assertThat(mount.read("status")).contains("--find-seed off");
    }
}
