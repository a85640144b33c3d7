package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A job that is written for a training's own DataLoader has the order that the loader reads. */
@Timeout(1200)
final class TorchFollowTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int EPOCHS = 3;

    /** Of 300 reads, those that ask or are reported out of turn: none on a quiet machine, a few on a busy one. */
    private static final int MOST_ASKED = 30;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @BeforeEach
    void requireTorch() throws Exception {
        Requirements.torch();
    }

    private Path source;

    private LiveMount mountImages(int train, int val) throws Exception {
        source = fixture.newDirectory("source");
        makeImages(source.resolve("train"), train);
        makeImages(source.resolve("val"), val);
        LiveMount mount = fixture.mount(source);
        mount.awaitReady();
        return mount;
    }

    private static void makeImages(Path into, int count) throws IOException {
        Random random = new Random(count);
        for (int i = 0; i < count; i++) {
            byte[] content = new byte[1_000 + random.nextInt(10_000)];
            random.nextBytes(content);
            Files.write(Files.createDirectories(into.resolve("class" + i % 3)).resolve(i + ".jpg"), content);
        }
    }

    private Path script(String name) throws IOException {
        try (InputStream resource = TorchFollowTest.class.getResourceAsStream(name)) {
            return Files.writeString(
                    fixture.newDirectory("script").resolve(name), new String(resource.readAllBytes(), UTF_8));
        }
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new TreeMap<>(fixture.environment());
        environment.put("GLOO_SOCKET_IFNAME", "lo");
        environment.put("OMP_NUM_THREADS", "1");
        return environment;
    }

    private List<JsonNode> said(List<String> command) throws IOException, InterruptedException {
        Ended ended = Ended.run(command, environment());
        return ended.succeeded().lines().map(JSON::readTree).toList();
    }

    // Promise J18
    @Test
    void line_for_a_loader_gives_its_order_or_it_says_why_none_does() throws Exception {
        LiveMount mount = mountImages(61, 10);
        Map<String, JsonNode> loaders = new LinkedHashMap<>();
        said(fixture.pythonCommand("followed_loaders.py", mount.point()))
                .forEach(each -> loaders.put(each.path("name").asString(), each));

        List<String> refused = new ArrayList<>();
        loaders.forEach((name, each) -> {
            if (each.has("refused")) {
                refused.add(name);
                assertThat(each.path("refused").asString()).as(name).startsWith("clairfs: ");
                assertThat(each.path("job").isNull()).as("no job for " + name).isTrue();
            } else if (!name.equals("OrderSampler")) {
                assertThat(each.path("wrong").asString("")).as(name).isEmpty();
                assertThat(each.path("right").asInt()).as(name).isEqualTo(3);
            }
        });
        assertThat(loaders.size() - refused.size())
                .as("loaders that a job follows")
                .isEqualTo(49);
        assertThat(refused)
                .containsExactly(
                        "Subset",
                        "SubsetRandomSampler",
                        "WeightedRandomSampler",
                        "a sampler of the script's",
                        "Lightning's wrapper, weighted",
                        "accelerate, dispatcher",
                        "accelerate, shared generator",
                        "two generators",
                        "timm, generator",
                        "IterableDataset",
                        "a dataset elsewhere",
                        "another dataset of the mount");
        assertThat(line(loaders, "DistributedSampler, last batch dropped"))
                .endsWith(
                        "batch=4 sampler=torch-distributed seed=5 world=2 drop_last_batch=true subset=train by=loader");
        assertThat(line(loaders, "generator, workers"))
                .endsWith("batch=4 workers=2 sampler=torch-generator seed=22 subset=train by=loader");
        assertThat(line(loaders, "generator, used before"))
                .contains(" sampler=torch-state state=", " seeded=generator ");
        assertThat(line(loaders, "OrderSampler")).startsWith("name=given ").doesNotContain("by=");
        for (String predictedAtOnce : List.of("DistributedSampler", "generator", "default, workers", "accelerate")) {
            assertThat(loaders.get(predictedAtOnce).path("rewritten").asInt())
                    .as(predictedAtOnce)
                    .isZero();
        }
        assertThat(loaders.get("default, validation").path("rewritten").asInt())
                .as("before the first epoch, and in the first validation")
                .isEqualTo(2);
    }

    private static String line(Map<String, JsonNode> loaders, String name) {
        return loaders.get(name).path("line").asString();
    }

    // Promise J19
    @Test
    void what_a_training_reads_is_never_changed_by_looking_at_its_datasets() throws Exception {
        LiveMount mount = mountImages(61, 10);
        List<String> command = new ArrayList<>(List.of("run", mount.point().toString(), "--"));
        command.addAll(fixture.pythonCommand("followed_oddities.py", mount.point()));
        Ended ended = Ended.run(Clairfs.command(command.toArray(String[]::new)), environment());

        JsonNode said = JSON.readTree(ended.succeeded());
        for (String each : List.of("equal", "odd")) {
            assertThat(said.path(each).asBoolean()).as(each).isTrue();
        }
        assertThat(said.path("loaded").asInt())
                .as("samples that were loaded beside the workers")
                .isZero();
        assertThat(said.path("passes").asInt())
                .as("through what the training put around a pass")
                .isEqualTo(2);
        assertThat(said.path("kept").asBoolean(true))
                .as("a loader that the training has dropped")
                .isFalse();
        assertThat(said.path("job").asString())
                .as("of a training that Slurm gave another number")
                .contains("name=train ", "subset=train");
    }

    // Promise J19
    @Tag("exhaustive")
    @Test
    void first_training_loader_gets_the_job_and_none_reads_otherwise() throws Exception {
        LiveMount mount = mountImages(61, 10);
        List<String> command = new ArrayList<>(List.of("run", mount.point().toString(), "--"));
        command.addAll(fixture.pythonCommand("followed_run.py", mount.point()));
        Ended ended = Ended.run(Clairfs.command(command.toArray(String[]::new)), environment());

        Map<String, String> jobs = new LinkedHashMap<>();
        ended.succeeded().lines().map(JSON::readTree).forEach(each -> {
            jobs.put(each.path("step").asString(), each.path("jobs").toString());
            assertThat(each.path("equal").asBoolean(true))
                    .as(each.path("step").asString())
                    .isTrue();
        });
        String training = "{\"train\":\"train torch-generator\"}";
        String resumed = "{\"train\":\"train torch-state\"}";
        String both = "{\"train\":\"train torch-state\",\"train-2\":\"val torch-default\"}";
        assertThat(jobs)
                .containsExactly(
                        Map.entry("nothing of the mount", "{}"),
                        Map.entry("check of the validation", "{\"train\":\"val sequential\"}"),
                        Map.entry("a look at a batch", training),
                        Map.entry("first epoch", resumed),
                        Map.entry("validation", resumed),
                        Map.entry("second epoch", resumed),
                        Map.entry("a part", resumed),
                        Map.entry("other files", both),
                        Map.entry("as without", both),
                        Map.entry("broken", both));
        assertThat(ended.err().lines().filter(l -> l.startsWith("clairfs: no job follows")))
                .hasSize(2)
                .anyMatch(l -> l.contains("chosen by their indices (Subset)"))
                .anyMatch(l -> l.contains("broken on purpose"));
        assertThat(mount.read("status").lines().filter(l -> l.startsWith("trainer ")))
                .as("told in the status too")
                .hasSize(2)
                .anyMatch(l -> l.contains("chosen by their indices (Subset)"))
                .anyMatch(l -> l.contains("broken on purpose"));
    }

    // Promise J19
    @ParameterizedTest
    @ValueSource(ints = 2)
    void unchanged_training_without_a_job_is_in_sync_from_its_first_epoch(int processes) throws Exception {
        LiveMount mount = mountImages(300, 40);
        Path out = fixture.newDirectory("out").resolve("read");
        List<String> command = new ArrayList<>(List.of("run", mount.point().toString(), "--"));
        List<String> training =
                List.of(script("train_images.py").toString(), mount.point().toString(), "--source", source.toString());
        command.addAll(
                processes == 1
                        ? fixture.interpreter()
                        : fixture.pythonCommand(TorchOrdersTest.TWO_RANKS, TestPorts.free(1)));
        command.addAll(training);
        command.addAll(List.of("--out", out.toString()));
        Ended ended = Ended.run(Clairfs.command(command.toArray(String[]::new)), environment());
        ended.succeeded();

        assertThat(ended.err().lines().filter(l -> l.startsWith("clairfs: ")))
                .as("told once")
                .hasSize(1)
                .allMatch(
                        l -> l.startsWith("clairfs: the job 'train' at " + mount.point() + " follows the training: "));
        for (int rank = 0; rank < processes; rank++) {
            JsonNode epochs = JSON.readTree(Files.readString(Path.of(out + "." + rank)));
            assertThat(epochs.size()).isEqualTo(EPOCHS);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                JsonNode read = epochs.path(epoch);
                String what = "rank %d in epoch %d: %s".formatted(rank, epoch, read);
                assertThat(read.path("order").size()).as(what).isEqualTo(300 / processes);
                assertThat(read.path("equal").asInt()).as(what).isEqualTo(300 / processes);
                assertThat(read.path("jobs").size()).as(what).isEqualTo(1);
                assertThat(read.at("/jobs/0/in_sync").asBoolean()).as(what).isTrue();
                assertThat(read.at("/jobs/0/deviations").asInt()).as(what).isLessThan(MOST_ASKED);
                if (epoch > 0) {
                    assertThat(read.path("upcalls").asInt()).as(what).isLessThan(MOST_ASKED);
                }
                if (epoch == EPOCHS - 1) {
                    assertThat(read.at("/jobs/0/steps").asInt() > 0)
                            .as("steps of two ranks: %s", what)
                            .isEqualTo(processes == 2);
                }
                if (processes == 2) {
                    assertThat(numbers(read.path("order")))
                            .as(what)
                            .isEqualTo(OrderSpec.parse("samples=300 world=2 rank=" + rank + " epoch=" + epoch)
                                    .indices());
                }
            }
        }
        assertThat(mount.lines("errors")).isEmpty();
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @ValueSource(ints = 1)
    void unchanged_training_of_one_process_is_in_sync_from_its_first_epoch(int processes) throws Exception {
        unchanged_training_without_a_job_is_in_sync_from_its_first_epoch(processes);
    }

    @Tag("exhaustive")
    @Test
    void modules_of_others_are_not_looked_for_on_the_mount() throws Exception {
        LiveMount mount = mountImages(10, 5);
        Path modules = mount.control("python");
        List<String> command = new ArrayList<>(List.of("run", mount.point().toString(), "--"));
        command.addAll(fixture.pythonCommand("dead_modules.py", modules, "run"));
        Ended ended = Ended.run(Clairfs.command(command.toArray(String[]::new)), environment());
        assertThat(ended.succeeded()).isEqualTo("done\n");
        for (String module : List.of("clairfs_torch", "clairfs_feed", "clairfs_torch.py", "clairfs_feed.py")) {
            String said = fixture.python("dead_modules.py", modules, module);
            assertThat(said).as(module).isEqualTo("done\n");
        }
    }

    @Tag("exhaustive")
    @Test
    void training_does_not_suffer_from_what_fails_in_following_it() throws Exception {
        LiveMount mount = mountImages(61, 10);
        assertThat(fixture.python("torch_modules.py", mount.point())).isEqualTo("done\n");
    }

    private static int[] numbers(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .mapToInt(JsonNode::asInt)
                .toArray();
    }
}
