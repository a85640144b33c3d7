package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A trainer that tells nothing is followed by what its first reads tell, if they tell anything. Its bytes are right either way. */
@Timeout(600)
final class FindSeedTest {
    private static final int SAMPLES = 960;

    /** So many that in another order few reads of a reader are beside each other. */
    private static final int MANY = 3_000;

    private static final int CLASSES = 6;
    private static final int EPOCHS = 3;
    private static final int LARGEST = 20_000;

    /** Reads files in name order, shuffled by a number of nobody's, or as a file of indices says, so many threads in turn. Prints how many equal. */
    private static final String READ = """
            import os, random, sys, threading
            from concurrent.futures import ThreadPoolExecutor
            mount, source, order, count, threads = sys.argv[1:4] + [int(number) for number in sys.argv[4:6]]
            files = sorted(os.path.join(d, f) for d in sorted(os.listdir(source)) for f in os.listdir(os.path.join(source, d)))
            if order == "shuffled":
                random.Random(os.urandom(16)).shuffle(files)
            elif order != "sorted":
                files = [files[int(line)] for line in open(order)]
            together = threading.Barrier(threads)
            def read(part):
                together.wait()  # or one thread might read the parts of two
                equal = 0
                for file in part:
                    with open(os.path.join(mount, file), "rb") as got, open(os.path.join(source, file), "rb") as right:
                        equal += got.read() == right.read()
                return equal
            with ThreadPoolExecutor(threads) as readers:
                print(sum(readers.map(read, [files[:count][i::threads] for i in range(threads)])))
            """;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        return makeSource(SAMPLES);
    }

    private Path makeSource(int samples) throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(5);
        for (int i = 0; i < samples; i++) {
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

    private JsonNode train(LiveMount mount, Path source, int epochs) throws IOException, InterruptedException {
        String said = fixture.python("untold_trainer.py", mount.point(), source, 1234, epochs);
        JsonNode read = new JsonMapper().readTree(said);
        assertThat(read.size()).isEqualTo(epochs);
        read.forEach(epoch -> assertThat(epoch.path("right").asInt()).isEqualTo(SAMPLES));
        return read;
    }

    private void read(LiveMount mount, Path source, Object order, int count, int threads)
            throws IOException, InterruptedException {
        assertThat(fixture.python(READ, mount.point(), source, order, count, threads)
                        .strip())
                .isEqualTo(Integer.toString(count));
    }

    private Path file(int[] order) throws IOException {
        return Files.write(
                fixture.newDirectory("order").resolve("order"),
                Arrays.stream(order).mapToObj(Integer::toString).toList());
    }

    private void awaitContradiction(LiveMount mount) throws IOException, InterruptedException {
        JsonNode status = mount.await("dropped", s -> s.path("jobs").isEmpty());
        assertThat(status.at("/find_seed/note").asString()).contains("contradicted");
    }

    private static String state(JsonNode status) {
        return status.at("/find_seed/state").asString();
    }

    private static boolean isFoundByALine(JsonNode status) {
        return state(status).equals("found") && status.at("/find_seed/line").isString();
    }

    // Promise S1, S2
    @Test
    void training_that_tells_nothing_is_found_and_followed_until_a_user_writes_a_job() throws Exception {
        Requirements.torch();
        Path source = makeSource();
        LiveMount mount = mount(source);
        JsonNode epochs = train(mount, source, EPOCHS);

        JsonNode status = mount.await("followed", s -> s.at("/jobs/0/epoch").asInt() >= EPOCHS - 1);
        assertThat(state(status)).isEqualTo("found");
        assertThat(status.at("/find_seed/line").asString()).contains("seed=1234", "world=2", "ranks=0-1");
        assertThat(status.at("/jobs/0/name").asString()).isEqualTo("found");
        assertThat(status.at("/jobs/0/found").asBoolean()).isTrue();
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
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

    // Promise S3, S6
    @Test
    void order_that_nobody_can_predict_is_followed_when_it_repeats() throws Exception {
        Path source = makeSource(MANY);
        LiveMount mount = mount(source);
        List<Integer> shuffled = IntStream.range(0, MANY).boxed().collect(Collectors.toList());
        Collections.shuffle(shuffled, new Random(7));
        Path order = file(shuffled.stream().mapToInt(i -> i).toArray());
        read(mount, source, order, MANY, 2);
        JsonNode status = mount.await(
                "searched",
                s -> s.at("/find_seed/reads").asInt() >= 200
                        && s.at("/find_seed/candidates").asLong() > 10_000);
        assertThat(status.path("jobs").isEmpty()).isTrue();
        assertThat(state(status)).isIn("collecting", "searching", "none");
        assertThat(status.at("/find_seed/line").isNull()).isTrue();

        read(mount, source, order, MANY, 2);
        status = mount.await(
                "found", s -> state(s).equals("found") && !s.path("jobs").isEmpty()); // one status is not one moment
        assertThat(status.at("/jobs/0/sampler").asString()).isEqualTo("order-file");
        assertThat(mount.read("status")).contains("found: order repeats every epoch, epoch ");
        assertThat(status.at("/find_seed/line").isNull())
                .as("a line that nobody can write again")
                .isTrue();
        read(mount, source, order, MANY, 2);
        status = mount.await("third epoch", s -> s.at("/jobs/0/epoch").asInt() >= 2);
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
        assertThat(status.at("/jobs/0/deviations").asInt()).isLessThan(MANY / 20);

        read(mount, source, "shuffled", MANY, 2);
        awaitContradiction(mount);
        Waiting.until("no order file is left", () -> orderFolders().isEmpty()); // they go right after the job
    }

    /** The jobs that a daemon goes on with which is started again. */
    private String keptJobs() throws IOException {
        StringBuilder kept = new StringBuilder();
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(fixture.directory().resolve("clairfs"), "*.restart")) {
            for (Path each : all) {
                kept.append(Files.readString(each.resolve("jobs")));
            }
        } catch (NoSuchFileException notYet) {
            return "";
        }
        return kept.toString();
    }

    private List<Path> orderFolders() throws IOException {
        Path all = fixture.directory().resolve("clairfs").resolve("orders");
        try (Stream<Path> folders = Files.list(all)) {
            return folders.toList();
        }
    }

    // Promise S4, S6
    @Tag("exhaustive")
    @Test
    void sampler_whose_epoch_is_never_set_is_followed_until_reads_contradict_it() throws Exception {
        Path source = makeSource();
        LiveMount mount = mount(source);
        Path order = file(OrderSpec.parse("samples=" + SAMPLES + " sampler=torch-distributed seed=7 epoch=0")
                .indices());
        read(mount, source, order, SAMPLES, 1);
        JsonNode status = mount.await("found", FindSeedTest::isFoundByALine);
        assertThat(status.at("/find_seed/line").asString()).isEqualTo("sampler=torch-distributed seed=7");

        read(mount, source, order, SAMPLES, 1);
        mount.await(
                "repeated",
                s -> s.at("/find_seed/line").asString("").equals("sampler=torch-distributed seed=7 set_epoch=false"));
        assertThat(mount.read("status")).contains("seed=7, order repeats every epoch, epoch ");
        read(mount, source, order, SAMPLES, 1);
        status = mount.status();
        assertThat(status.path("jobs").size()).isEqualTo(1);
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();

        read(mount, source, "shuffled", SAMPLES, 1);
        awaitContradiction(mount);
    }

    // Promise S4
    @Test
    void daemon_that_is_started_again_goes_on_with_what_was_found_until_reads_contradict_it() throws Exception {
        Path source = makeSource();
        LiveMount mount = mount(source, "--restarts", "3");
        mount.awaitSupervisor();
        Path order = file(OrderSpec.parse("samples=" + SAMPLES + " sampler=torch-distributed seed=7 epoch=0")
                .indices());
        read(mount, source, order, SAMPLES / 2, 1);
        mount.await("found", s -> state(s).equals("found"));
        Waiting.until("the job is kept", () -> keptJobs().contains("found "));
        long killed = mount.pid();
        ProcessHandle.of(killed).orElseThrow().destroyForcibly();
        mount.awaitNext(killed);

        JsonNode status = mount.await("found, by another daemon", FindSeedTest::isFoundByALine);
        assertThat(status.at("/find_seed/line").asString()).isEqualTo("sampler=torch-distributed seed=7");
        assertThat(status.at("/jobs/0/found").asBoolean()).isTrue();
        assertThat(mount.read("status")).contains("found: torch-distributed seed=7, epoch 0");

        read(mount, source, "shuffled", SAMPLES, 1);
        awaitContradiction(mount);
    }

    // Promise S5
    @Test
    void mount_without_the_search_finds_nothing() throws Exception {
        Path source = makeSource();
        LiveMount mount = mount(source, "--find-seed", "off");
        read(mount, source, "sorted", SAMPLES / 4, 1);
        JsonNode status = mount.status();
        assertThat(state(status)).isEqualTo("off");
        assertThat(status.at("/find_seed/reads").asInt()).isZero();
        assertThat(status.path("jobs").isEmpty()).isTrue();
        assertThat(mount.read("status")).contains("--find-seed off");
    }
}
