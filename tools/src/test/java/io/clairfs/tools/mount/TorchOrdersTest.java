package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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

/** A real training of two processes takes its order from a job of the mount: unchanged under {@code clairfs run}, or by one line. */
@Timeout(1200)
final class TorchOrdersTest {
    private static final int SAMPLES = 61; // odd: one sample is read by both ranks
    private static final int EPOCHS = 2;
    private static final int WORLD = 2;
    private static final String SAMPLER = "sampler = DistributedSampler(dataset, seed=1)";

    /** As torchrun does, whose release in Debian 12 does not run on its Python. */
    static final String TWO_RANKS = """
            import os, subprocess, sys
            def begin(rank):
                place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": sys.argv[1]}
                environment = dict(os.environ, MASTER_ADDR="127.0.0.1", **{name: str(value) for name, value in place.items()})
                return subprocess.Popen([sys.executable] + sys.argv[2:], env=environment)
            sys.exit(max(abs(process.wait()) for process in [begin(0), begin(1)]))
            """;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source;
    private LiveMount mount;

    @BeforeEach
    void mountImages() throws Exception {
        Requirements.torch();
        source = fixture.newDirectory("source");
        makeImages(source, SAMPLES);
        mount = fixture.mount(source);
        mount.awaitReady();
    }

    private static void makeImages(Path into, int count) throws IOException {
        Random random = new Random(1);
        for (int i = 0; i < count; i++) {
            byte[] content = new byte[1_000 + random.nextInt(20_000)];
            random.nextBytes(content);
            Files.write(Files.createDirectories(into.resolve("class" + i % 3)).resolve(i + ".jpg"), content);
        }
    }

    private String script(String name) throws IOException {
        try (InputStream resource = TorchOrdersTest.class.getResourceAsStream(name)) {
            return new String(resource.readAllBytes(), UTF_8);
        }
    }

    /** Writes the training with another line in place of its sampler's. */
    private Path training(String samplerLine) throws IOException {
        String text = script("train_distributed.py");
        assertThat(text).contains(SAMPLER);
        return Files.writeString(
                fixture.newDirectory("script").resolve("train.py"), text.replace(SAMPLER, samplerLine));
    }

    /** The command that trains with two processes. */
    private List<String> twoRanks(Path script, Path data, Path out) throws IOException {
        return fixture.pythonCommand(TWO_RANKS, TestPorts.free(1), script, data, source, out, EPOCHS);
    }

    private List<String> underRun(String job, List<String> command) {
        List<String> all = new ArrayList<>(List.of("run", mount.point().toString(), "--job", job, "--"));
        all.addAll(command);
        return Clairfs.command(all.toArray(String[]::new));
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new TreeMap<>(fixture.environment());
        environment.put("GLOO_SOCKET_IFNAME", "lo");
        environment.put("OMP_NUM_THREADS", "1");
        return environment;
    }

    /** Every rank has read the orders of this line, and every byte was right. */
    private static void requireOrders(Path out, String line) throws Exception {
        for (int rank = 0; rank < WORLD; rank++) {
            JsonNode read = new JsonMapper().readTree(Files.readString(Path.of(out + "." + rank)));
            int count = 0;
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                int[] order = StreamSupport.stream(
                                read.path("orders").path(epoch).spliterator(), false)
                        .mapToInt(JsonNode::asInt)
                        .toArray();
                count += order.length;
                int[] expected = OrderSpec.parse("samples=" + SAMPLES + " world=" + WORLD + " rank=" + rank + " epoch="
                                + epoch + " " + line)
                        .indices();
                assertThat(order).as("rank %d in epoch %d", rank, epoch).isEqualTo(expected);
            }
            assertThat(read.path("equal").asInt()).as("right bytes").isEqualTo(count);
            assertThat(read.path("batches").asInt()).isEqualTo((count / EPOCHS + 3) / 4);
        }
    }

    private void requireInSync(String job) throws Exception {
        JsonNode status = mount.await("read", s -> s.at("/jobs/0/done").asBoolean());
        assertThat(status.at("/jobs/0/name").asString()).isEqualTo(job);
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
        assertThat(status.at("/jobs/0/deviations").asInt()).isZero();
        assertThat(mount.lines("errors")).isEmpty();
    }

    // Promise J11
    @ParameterizedTest
    @ValueSource(strings = "seed=4711 batch=4")
    void unchanged_training_reads_the_order_of_the_job(String order) throws Exception {
        requireUnchangedTrainingReads(order);
    }

    /** By one line, these orders are read at every run. */
    @Tag("exhaustive")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "sampler=accelerate seed=3 batch=4",
                "sampler=locality-aware seed=3 batch=4",
                "sampler=partial-local exchange=0.5 seed=3 batch=4"
            })
    void unchanged_training_reads_each_further_order_of_the_job(String order) throws Exception {
        requireUnchangedTrainingReads(order);
    }

    private void requireUnchangedTrainingReads(String order) throws Exception {
        mount.job("name=given epochs=2 workers=1 world=2 " + order);
        Path out = fixture.newDirectory("out").resolve("read");

        Ended.run(underRun("given", twoRanks(training(SAMPLER), mount.point(), out)), environment())
                .succeeded();

        requireOrders(out, order);
        requireInSync("given");
    }

    /**
     * As people start it. Its output goes to files, for Debian's PyTorch 1.13 fails without that: Python 3.11 leaves an empty flag out where it
     * lists flags.
     */
    @Tag("exhaustive")
    @Test
    void training_that_torchrun_starts_reads_the_order_of_the_job() throws Exception {
        String order = "sampler=locality-aware seed=3 batch=4";
        mount.job("name=given epochs=2 workers=1 world=2 " + order);
        Path out = fixture.newDirectory("out").resolve("read");
        List<String> command = List.of(
                "torchrun",
                "--redirects=1",
                "--tee=1",
                "--log_dir=" + fixture.newDirectory("log"),
                "--nproc_per_node=2",
                "--master_port=" + TestPorts.free(1),
                training(SAMPLER).toString(),
                mount.point().toString(),
                source.toString(),
                out.toString(),
                Integer.toString(EPOCHS));

        Ended.run(underRun("given", command), environment()).succeeded();

        requireOrders(out, order);
        requireInSync("given");
    }

    @Tag("exhaustive")
    @Test
    void training_elsewhere_keeps_its_order_under_a_job() throws Exception {
        mount.job("name=given seed=4711 epochs=2 batch=4 world=2");
        Path out = fixture.newDirectory("out").resolve("read");

        Ended.run(underRun("given", twoRanks(training(SAMPLER), source, out)), environment())
                .succeeded();

        requireOrders(out, "seed=1");
    }

    // Promise J11
    @Test
    void one_line_reads_the_order_of_the_job() throws Exception {
        String order = "sampler=locality-aware seed=4711 batch=4";
        mount.job("name=given epochs=2 workers=1 world=2 " + order);
        Path out = fixture.newDirectory("out").resolve("read");

        Ended.run(twoRanks(training(line("job='given', rank=rank")), mount.point(), out), environment())
                .succeeded();

        requireOrders(out, order);
        requireInSync("given");
    }

    @Tag("exhaustive")
    @Test
    void one_line_starts_the_job_too() throws Exception {
        Path out = fixture.newDirectory("out").resolve("read");
        String order = "sampler=partial-local exchange=0.5 seed=99 batch=4";
        String job = "name=own epochs=2 workers=1 " + order;

        Ended.run(twoRanks(training(line("job='" + job + "'")), mount.point(), out), environment())
                .succeeded();

        requireOrders(out, order);
        requireInSync("own");
        assertThat(mount.lines("job").getFirst()).contains("world=2 ranks=0-1");
    }

    /** The first process of each node writes the job, with the ranks of its node. */
    @Tag("exhaustive")
    @Test
    void one_line_starts_the_job_on_two_nodes() throws Exception {
        Path out = fixture.newDirectory("out").resolve("read");
        String order = "sampler=partial-local exchange=0.5 seed=99 batch=4";
        String twoNodes = TWO_RANKS
                .replace("\"LOCAL_RANK\": rank", "\"LOCAL_RANK\": 0")
                .replace("\"LOCAL_WORLD_SIZE\": 2", "\"LOCAL_WORLD_SIZE\": 1")
                .replace("sys.argv[2:]", "[sys.argv[2], sys.argv[3 + rank]] + sys.argv[5:]");
        NodeGroup group = NodeGroup.of(fixture, source, SAMPLES, source, null, NodeGroup.Storage.memory(4L << 20))
                .mount(WORLD);
        group.awaitWhole();
        List<LiveMount> nodes = group.nodes();
        Path script = training(line("job='name=own epochs=2 workers=1 " + order + "'"));
        List<String> command = fixture.pythonCommand(
                twoNodes,
                TestPorts.free(1),
                script,
                nodes.get(0).point(),
                nodes.get(1).point(),
                source,
                out,
                EPOCHS);

        Ended.run(command, environment()).succeeded();

        requireOrders(out, order);
        for (int rank = 0; rank < WORLD; rank++) {
            JsonNode job = nodes.get(rank)
                    .await("read", s -> s.at("/jobs/0/done").asBoolean())
                    .at("/jobs/0");
            assertThat(job.path("ranks").asString()).isEqualTo(Integer.toString(rank));
            assertThat(job.path("in_sync").asBoolean()).isTrue();
            assertThat(job.path("deviations").asInt()).isZero();
        }
    }

    private static String line(String arguments) {
        return "sys.path.insert(0, data + '/.clairfs/python'); from clairfs_torch import OrderSampler; sampler ="
                + " OrderSampler(data, dataset=dataset, " + arguments + ")";
    }

    // Promise J12
    @Test
    void what_does_not_fit_the_job_is_one_exception_with_the_remedy() throws Exception {
        mount.job("seed=4711 epochs=2 batch=4 world=2");
        Path other = fixture.newDirectory("other");
        makeImages(other, SAMPLES);
        List<String> command = fixture.pythonCommand("refused_orders.py", mount.point(), other);
        Ended ended = Ended.run(underRun("train", command), environment());

        Map<String, String> said = new LinkedHashMap<>();
        ended.succeeded().lines().map(l -> l.split("\t", 2)).forEach(l -> said.put(l[0], l[1]));
        String half = "length\t" + (SAMPLES + 1) / 2;
        assertThat(said).containsEntry("run right", half).containsEntry("line right", half);
        assertThat(said).containsEntry("run no job", half);
        assertThat(said).containsEntry("run elsewhere", half).containsEntry("run silent", half);
        assertThat(said).containsEntry("run unshuffled", "length\t" + (SAMPLES - 5) / 2);
        assertThat(said).containsEntry("line silent", half);
        assertThat(ended.err().lines().filter(l -> l.startsWith("clairfs: the DistributedSampler of a Silent")))
                .hasSize(1);
        String start = "echo 'name=train sampler=torch-distributed seed=4711 epochs=2 world=";
        for (String way : List.of("run ", "line ")) {
            assertRefused(said, way + "dataset", "has 56 samples, the job 'train' has the 61 of " + mount.point());
            assertRefused(
                    said,
                    way + "world",
                    "has a world of 3, the job 'train' at " + mount.point() + " of 2",
                    start + "3");
            assertRefused(said, way + "index", "sample 0 of this training is class2/", "--index-rule");
        }
        assertRefused(said, "line job", "there is no job 'nobody' at " + mount.point() + " (jobs: train)", "seed=SEED");
        assertRefused(said, "line rank", "rank 2 is none of the job 'train'", start + "WORLD");
        assertRefused(
                said,
                "line elsewhere",
                other.toString(),
                "not below the mount",
                mount.point().toString());
        assertRefused(said, "line mount", "no clairfs mount answers at " + other, "clairfs mount SOURCE");
        assertRefused(said, "line refused", "unknown key 'colour'");
        assertRefused(
                said, "line epoch", "has 2 epochs, the first is 0, and this training begins epoch 2", "epochs=EPOCHS");
    }

    private static void assertRefused(Map<String, String> said, String what, String... parts) {
        assertThat(said.get(what)).as(what).startsWith("refused\tclairfs: ").contains(parts);
    }

    // Promise J12
    @Tag("exhaustive")
    @Test
    void refused_training_ends_with_one_traceback() throws Exception {
        mount.job("seed=4711 epochs=2 batch=4 world=3");
        String script = """
                import sys
                from torch.utils.data import DistributedSampler
                from torchvision.datasets import ImageFolder
                for index in DistributedSampler(ImageFolder(sys.argv[1]), num_replicas=2, rank=0):
                    pass
                """;
        Ended ended = Ended.run(underRun("train", fixture.pythonCommand(script, mount.point())), environment());
        assertThat(ended.exit()).isEqualTo(1);
        assertThat(ended.err().lines().filter(line -> line.startsWith("Traceback")))
                .hasSize(1);
        assertThat(ended.err().lines().toList().getLast())
                .startsWith("clairfs_torch.OrderError: clairfs: this training has a world of 2");
    }

    // Promise J13
    @Test
    void without_the_variable_nothing_changes() throws Exception {
        mount.job("seed=4711 epochs=2 batch=4 world=2");
        Path further = fixture.newDirectory("further");
        Files.writeString(
                further.resolve("sitecustomize.py"), "import sys\nprint('next ran', 'torch' in sys.modules)\n");
        String script = """
                import sys
                import sitecustomize
                print(sitecustomize.__file__)
                from torch.utils.data import DistributedSampler
                from torchvision.datasets import ImageFolder
                sampler = DistributedSampler(ImageFolder(sys.argv[1]), num_replicas=2, rank=0, seed=1)
                for epoch in range(2):
                    sampler.set_epoch(epoch)
                    print(len(sampler), list(sampler))
                print(DistributedSampler.__iter__.__module__, [f for f in sys.meta_path if 'itecustom' in repr(f)])
                """;
        List<String> command = fixture.pythonCommand(script, mount.point());
        String modules = mount.control("python").toString();
        String plain = said(command, Map.of("PYTHONPATH", further.toString()));
        assertThat(plain).startsWith("next ran False\n" + further.resolve("sitecustomize.py") + "\n");
        assertThat(plain).endsWith("torch.utils.data.distributed []\n");

        assertThat(said(command, Map.of("PYTHONPATH", modules + ":" + further))).isEqualTo(plain);
        assertThat(said(command, Map.of("PYTHONPATH", modules + ":" + further, "CLAIRFS_JOB", "")))
                .isEqualTo(plain);
        Path copied = fixture.newDirectory("copied");
        Files.write(copied.resolve("sitecustomize.py"), Files.readAllBytes(Path.of(modules, "sitecustomize.py")));
        assertThat(said(command, Map.of("PYTHONPATH", modules + ":" + copied + ":" + further)))
                .as("neither passes on to the one before it")
                .isEqualTo(plain);

        fixture.environment("PYTHONPATH", further.toString());
        String run = Ended.run(underRun("train", command), environment()).succeeded();
        assertThat(run).as("under run").startsWith("next ran False\n").isNotEqualTo(plain);
        List<String> orders = run.lines().skip(2).limit(EPOCHS).toList();
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            assertThat(orders.get(epoch))
                    .isEqualTo("31 "
                            + Arrays.toString(OrderSpec.parse("samples=61 world=2 seed=4711 epoch=" + epoch)
                                    .indices()));
        }
    }

    private String said(List<String> command, Map<String, String> further) throws IOException, InterruptedException {
        Map<String, String> environment = new TreeMap<>(environment());
        environment.putAll(further);
        return Ended.run(command, environment).succeeded();
    }
}
