package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The control files show the state of the mount and execute what is written to them. */
@Timeout(600)
class ControlFilesTest {
    private static final int SAMPLES = 103;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static LiveMount mount;

    @BeforeAll
    static void mountImages() throws IOException, InterruptedException {
        Path source = FIXTURE.newDirectory("source");
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(
                    source.resolve(List.of("B", "a", "ä", "Z z").get(i % 4)));
            Files.writeString(directory.resolve("image" + i + (i % 2 == 0 ? ".JPG" : ".png")), "image " + i);
        }
        Files.writeString(source.resolve("a/notes.txt"), "not an image");
        mount = FIXTURE.mount(source);
        mount.awaitReady();
    }

    @AfterEach
    void stopJobs() throws IOException {
        mount.stopJobs();
    }

    // Promise J3
    @Test
    void status_json_has_every_key_that_scripts_rely_on() throws Exception {
        mount.job("seed=42 epochs=3");
        JsonNode status = mount.status();
        assertKeys(
                status,
                "version mount source samples bytes ready jobs reads fetched stall_seconds staging tiers peers"
                        + " checksum_failures uptime_seconds");
        assertKeys(status.at("/jobs/0"), "name seed sampler epochs world ranks epoch position in_sync deviations");
        assertKeys(status.path("reads"), "opened from_page_cache upcalls bytes errors");
        assertKeys(status.path("fetched"), "memory ssd peer source");
        status.path("fetched").forEach(place -> assertKeys(place, "count bytes"));
        assertKeys(status.path("staging"), "capacity_bytes used_bytes samples");
        assertKeys(status.at("/tiers/0"), "name capacity_bytes used_bytes samples");
        assertThat(status.path("samples").asInt()).isEqualTo(SAMPLES);
        assertThat(status.path("mount").asString()).isEqualTo(mount.point().toString());
        assertThat(status.path("ready").asBoolean()).isTrue();
    }

    private static void assertKeys(JsonNode node, String keys) {
        assertThat(node.propertyNames()).contains(keys.split(" "));
    }

    @Test
    void status_command_prints_the_same_as_the_files() throws Exception {
        JsonNode printed = new JsonMapper()
                .readTree(FIXTURE.clairfs("status", mount.point(), "--json").succeeded());
        assertThat(printed.path("pid").asLong()).isEqualTo(mount.pid());
        String text = FIXTURE.clairfs("status", mount.point().resolve("a")).succeeded();
        assertThat(text).contains("103 samples").contains("none; start one");
        assertThat(mount.read("status")).contains("103 samples");
    }

    @Test
    void index_is_the_one_of_image_folder() throws Exception {
        Requirements.torch();
        String imageFolder = """
                import os, sys
                from torchvision.datasets import ImageFolder
                for path, _ in ImageFolder(sys.argv[1]).samples:
                    print(os.path.relpath(path, sys.argv[1]))
                """;
        assertThat(mount.lines("index")).hasSize(SAMPLES);
        assertThat(mount.read("index")).isEqualTo(FIXTURE.python(imageFolder, mount.point()));
    }

    @Test
    void order_is_the_one_of_the_command_and_of_distributed_sampler() throws Exception {
        mount.job("name=o seed=-7 epochs=2 world=3 ranks=0-2");
        for (int epoch = 0; epoch < 2; epoch++) {
            for (int rank = 0; rank < 3; rank++) {
                String[] place = {"--epoch", "" + epoch, "--rank", "" + rank};
                List<Object> command =
                        new ArrayList<>(List.of("order", "--samples", SAMPLES, "--seed=-7", "--world=3"));
                command.addAll(List.of(place));
                assertThat(FIXTURE.clairfs(command.toArray()).succeeded())
                        .isEqualTo(mount.read("order/o/" + epoch + "/" + rank));
            }
        }
        Requirements.torch();
        String sampler = """
                import sys
                from torch.utils.data import DistributedSampler
                for epoch in range(2):
                    for rank in range(3):
                        s = DistributedSampler(range(int(sys.argv[1])), num_replicas=3, rank=rank, seed=-7)
                        s.set_epoch(epoch)
                        print(*s, sep='\\n')
                """;
        StringBuilder published = new StringBuilder();
        for (int epoch = 0; epoch < 2; epoch++) {
            for (int rank = 0; rank < 3; rank++) {
                published.append(mount.read("order/o/" + epoch + "/" + rank));
            }
        }
        assertThat(published.toString().lines()).hasSize(2 * 3 * 35);
        assertThat(published).hasToString(FIXTURE.python(sampler, SAMPLES));
    }

    @Test
    void locality_aware_order_is_read_by_the_sampler_for_scripts() throws Exception {
        mount.job("sampler=locality-aware seed=5 epochs=2 batch=4 world=4 ranks=0-3 per_node=2");
        StringBuilder expected = new StringBuilder();
        for (int epoch = 0; epoch < 2; epoch++) {
            expected.append(FIXTURE.clairfs(
                            "order",
                            "--sampler=locality-aware",
                            "--seed=5",
                            "--batch=4",
                            "--world=4",
                            "--rank=3",
                            "--samples=" + SAMPLES,
                            "--epoch=" + epoch,
                            "per_node=2")
                    .succeeded());
        }
        Requirements.torch();
        String script = """
                import sys
                sys.path.insert(0, sys.argv[1] + "/.clairfs/python")
                from clairfs_torch import OrderSampler

                sampler = OrderSampler(sys.argv[1], job="train", rank=3, world=4)
                for epoch in range(2):
                    sampler.set_epoch(epoch)
                    assert len(sampler) == 26
                    print(*sampler, sep='\\n')
                """;
        assertThat(FIXTURE.python(script, mount.point())).isEqualTo(expected.toString());
    }

    @Test
    void reported_times_of_a_loader_become_advice() throws Exception {
        mount.job("name=r seed=1 world=2 ranks=0-1");
        assertThat(mount.status().at("/jobs/0/advice").isNull()).isTrue();
        report("job=r rank=0 workers=2 samples=64 read=0 transform=0.01\njob=r rank=1 workers=2 read=0 transform=0.01");
        JsonNode job = mount.status().at("/jobs/0");
        assertThat(job.at("/loading/workers").asInt()).isEqualTo(4);
        assertThat(job.at("/loading/transform_seconds").asDouble()).isEqualTo(0.01);
        int processors = Runtime.getRuntime().availableProcessors();
        assertThat(job.path("advice").asString())
                .isEqualTo("num_workers=" + Math.ceilDiv(processors, 2) + "; more do not help (98 % of peak)");
        assertThat(mount.read("status")).contains("advice: num_workers=");
        assertThat(mount.lines("report")).hasSize(2).last().asString().startsWith("job=r rank=1 workers=2 samples=1 ");
    }

    private static void report(String lines) throws IOException {
        Files.writeString(mount.control("report"), lines + "\n", StandardOpenOption.WRITE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "job=gone read=0 transform=1 | there is no job 'gone'",
                "job=r rank=2 read=0 transform=1 | rank=2 of the job 'r' does not read here; ranks=0-1 do",
                "job=r read=0 | transform= is missing",
                "job=r read=-1 transform=1 | read='-1' is not a number",
                "job=r workers=0 read=0 transform=1 | workers=0 is out of range",
                "job=r read=0 transform=1 speed=3 | unknown key 'speed'",
                "job=r loop=5 waited=2 took=1 | waited=2.0 is more than took=1.0",
                "job=r loop=5 took=1 | waited= is missing",
                "job=gone loop=5 waited=0 took=1 | there is no job 'gone'",
                "faster | is not key=value",
            })
    void wrong_report_is_one_error_and_changes_nothing(String line, String reason) throws Exception {
        mount.job("name=r seed=1 world=2 ranks=0-1");
        int before = mount.status().path("errors").asInt();
        assertThatThrownBy(() -> report("job=r read=0 transform=1\n" + line))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Invalid argument");
        assertThat(mount.status().path("errors").asInt()).isEqualTo(before + 1);
        assertThat(mount.lines("errors").getLast()).contains("report line '" + line + "': ", reason);
        assertThat(mount.status().at("/jobs/0/advice").isNull()).isTrue();
    }

    @Test
    void torch_loader_that_reports_reads_as_before_and_gets_advice() throws Exception {
        Requirements.torch();
        mount.job("name=torch seed=1");
        String script = """
                import os, pickle, sys, time
                sys.path.insert(0, sys.argv[1] + "/.clairfs/python")
                import clairfs_torch
                from torch.utils.data import DataLoader, Dataset, get_worker_info

                class Files(Dataset):
                    begun = False

                    def __init__(self, root):
                        with open(root + "/.clairfs/index") as index:
                            self.paths = [os.path.join(root, line.rstrip("\\n")) for line in index]

                    def __len__(self):
                        return len(self.paths)

                    def __getitem__(self, i):
                        assert self.begun or get_worker_info() is None
                        with open(self.paths[i], "rb") as file:
                            content = file.read()
                        end = time.thread_time() + 0.002
                        while time.thread_time() < end:
                            pass
                        return i, len(content)

                def begin(worker):
                    Files.begun = True

                def epoch(workers, times, report):
                    loader = DataLoader(Files(sys.argv[1]), batch_size=8, num_workers=workers)
                    if report:
                        clairfs_torch.report(loader, job="torch")
                        copy = pickle.loads(pickle.dumps(loader.dataset))
                        assert type(copy) is Files and copy.paths == loader.dataset.paths
                        assert loader.worker_init_fn is None
                        loader.worker_init_fn = begin  # as Lightning does
                        assert pickle.loads(pickle.dumps(loader)).num_workers == workers
                    batches = [[b.tolist() for b in batch] for _ in range(times) for batch in loader]
                    assert loader.worker_init_fn is (begin if report else None)
                    return batches

                plain = epoch(0, 1, False)
                clairfs_torch.REPORT_EVERY_S = 0.0
                for workers in (0, 2):
                    assert epoch(workers, 1, True) == plain, workers
                    with open(sys.argv[1] + "/.clairfs/report") as report:
                        print(report.read(), end="")
                """;
        List<String> reported = FIXTURE.python(script, mount.point()).lines().toList();
        assertThat(reported).hasSize(2);
        assertThat(reported.get(0)).startsWith("job=torch rank=0 workers=1 samples=16 ");
        assertThat(reported.get(1)).startsWith("job=torch rank=0 workers=2 samples=16 ");
        JsonNode job = mount.status().at("/jobs/0");
        assertThat(job.at("/loading/transform_seconds").asDouble())
                .as("each sample is worked on for 2 ms")
                .isGreaterThanOrEqualTo(0.002);
        assertThat(job.path("advice").asString()).matches("num_workers=\\d+; more do not help \\(98 % of peak\\)");
    }

    @Test
    void a_bare_integer_is_the_seed_of_a_job_with_all_defaults() throws Exception {
        mount.job("42");
        JsonNode job = mount.status().at("/jobs/0");
        assertThat(job.path("name").asString()).isEqualTo("train");
        assertThat(job.path("seed").asString()).isEqualTo("42");
        assertThat(job.path("sampler").asString()).isEqualTo("torch-distributed");
        assertThat(job.path("world").asInt()).isEqualTo(1);
        assertThat(job.path("epochs").isNull()).isTrue();
    }

    @Test
    void job_lists_the_effective_specs_and_several_lines_are_taken_at_once() throws Exception {
        mount.job("name=one seed=1 epochs=2\nname=two sampler=sequential world=4 ranks=1-2");
        assertThat(mount.lines("job"))
                .containsExactly(
                        "name=one sampler=torch-distributed seed=1 epochs=2 world=1 ranks=0-0",
                        "name=two sampler=sequential seed=0 world=4 ranks=1-2");
        mount.job("name=one seed=9 epochs=2");
        assertThat(mount.lines("job"))
                .hasSize(2)
                .anyMatch(line -> line.startsWith("name=one") && line.contains("seed=9"));
    }

    @Test
    void job_command_starts_lists_and_stops() throws Exception {
        assertThat(FIXTURE.clairfs("job", "start", mount.point(), "seed=5", "epochs=1")
                        .succeeded())
                .isEmpty();
        assertThat(FIXTURE.clairfs("job", "list", mount.point()).succeeded()).isEqualTo(mount.read("job"));
        assertThat(mount.lines("job")).hasSize(1);
        assertThat(FIXTURE.clairfs("job", "stop", mount.point()).succeeded()).isEmpty();
        assertThat(mount.lines("job")).isEmpty();
        assertThat(mount.point().resolve(".clairfs/order/train")).doesNotExist();
    }

    @Test
    void a_subset_is_a_dataset_of_its_own() throws Exception {
        Path source = FIXTURE.newDirectory("splits");
        for (String file : List.of("train/x/1.jpg", "train/x/2.jpg", "val/x/3.jpg")) {
            Files.createDirectories(source.resolve(file).getParent());
            Files.writeString(source.resolve(file), file);
        }
        LiveMount splits = FIXTURE.mount(source);
        splits.awaitReady();
        splits.job("name=t seed=1 epochs=1 subset=train\nname=v sampler=sequential epochs=1 subset=val");
        assertThat(splits.order("t", 0, 0)).containsExactlyInAnyOrder("0", "1");
        assertThat(splits.order("v", 0, 0)).containsExactly("0");
    }
}
