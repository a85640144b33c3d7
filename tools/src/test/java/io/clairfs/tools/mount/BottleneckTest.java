package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.w3c.dom.NodeList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a mount says of the waits of its trainers, and {@code clairfs report}. */
@Timeout(600)
final class BottleneckTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int SAMPLES = 60;
    private static final int SAMPLE_BYTES = 50_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private static void readAll(LiveMount mount, String job, int epoch) throws Exception {
        List<String> paths = mount.lines("index");
        for (String sample : mount.order(job, epoch, 0)) {
            assertThat(Files.readAllBytes(mount.point().resolve(paths.get(Integer.parseInt(sample)))))
                    .hasSize(SAMPLE_BYTES);
        }
    }

    private static double value(String metrics, String name) {
        List<String> found =
                metrics.lines().filter(line -> line.startsWith(name + " ")).toList();
        assertThat(found).as("%s in %s", name, metrics).hasSize(1);
        return Double.parseDouble(found.getFirst().substring(name.length() + 1));
    }

    private static List<String> cells(Path page) throws Exception {
        String html = Files.readString(page);
        NodeList found = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(
                        html.substring(html.indexOf('\n') + 1).getBytes(UTF_8)))
                .getElementsByTagName("td");
        List<String> cells = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            cells.add(found.item(i).getTextContent());
        }
        return cells;
    }

    private static String rounded(String form, JsonNode value, double times) {
        return String.format(Locale.ROOT, form, times * value.asDouble());
    }

    // Promise J20
    @Test
    void slow_source_makes_readers_wait_and_all_say_the_same() throws Exception {
        Path dataset = fixture.newDirectory("dataset");
        Images.make(dataset.resolve("train"), SAMPLES, SAMPLE_BYTES);
        Images.make(dataset.resolve("val"), 4, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(200_000_000, Duration.ofMillis(20)))) {
            // A third of an epoch has room before the trainer and comes one by one: who only reads has to wait.
            LiveMount mount = fixture.mount(
                    source.point(),
                    "--index-rule",
                    "sorted",
                    "--loaders",
                    "1",
                    "--memory",
                    "1MiB",
                    "--staging",
                    "1MiB");
            mount.awaitReady();
            assertThat(fixture.clairfs("report", mount.point()).complainedWith(1))
                    .contains("there is no job at", "clairfs job start " + mount.point());

            mount.job("subset=train seed=7 epochs=2 batch=4 workers=0");
            mount.job("name=idle sampler=sequential subset=val");
            assertThat(fixture.clairfs("report", mount.point()).succeeded())
                    .contains("job train: Nothing is known yet", "job idle: Nothing is known yet");
            readAll(mount, "train", 0);
            mount.await("an epoch", s -> s.at("/jobs/0/epoch").asInt() == 1);
            readAll(mount, "train", 1);
            JsonNode status = mount.await("the end", s -> s.at("/jobs/0/done").asBoolean());

            JsonNode job = status.at("/jobs/0");
            assertThat(job.path("history")).hasSize(2);
            double waited = job.path("reader_wait_seconds").asDouble();
            assertThat(waited).isPositive();
            double sum = 0;
            for (JsonNode epoch : job.path("history")) {
                sum += epoch.path("reader_wait_seconds").asDouble();
                assertThat(epoch.path("over").asBoolean()).isTrue();
                assertThat(epoch.path("samples").asInt()).isEqualTo(SAMPLES);
                assertThat(epoch.path("waited_seconds").asDouble())
                        .isLessThanOrEqualTo(epoch.path("reader_wait_seconds").asDouble());
                assertThat(epoch.path("waited_at_least_seconds").asDouble())
                        .isLessThanOrEqualTo(epoch.path("waited_seconds").asDouble());
                assertThat(epoch.path("reader_wait_seconds").asDouble())
                        .isLessThanOrEqualTo(epoch.path("seconds").asDouble());
            }
            assertThat(sum).isCloseTo(waited, within(1e-6));
            JsonNode last = job.path("history").path(1);
            assertThat(job.path("utilisation").asDouble())
                    .isEqualTo(last.path("utilisation").asDouble())
                    .isCloseTo(
                            1
                                    - last.path("waited_seconds").asDouble()
                                            / last.path("seconds").asDouble(),
                            within(1e-9));
            assertThat(job.at("/history/0/fetched/source/count").asInt()).isPositive();

            String metrics = mount.read("metrics");
            assertThat(value(metrics, "clairfs_job_reader_wait_seconds_total{job=\"train\"}"))
                    .isEqualTo(waited);
            assertThat(value(metrics, "clairfs_job_accelerator_utilisation{job=\"train\"}"))
                    .isEqualTo(job.path("utilisation").asDouble());
            assertThat(value(metrics, "clairfs_job_reader_wait_seconds_total{job=\"idle\"}"))
                    .isZero();
            String[] top = fixture.clairfs("top", mount.point(), "--every", "100ms", "--count", "1")
                    .succeeded()
                    .lines()
                    .toList()
                    .get(1)
                    .strip()
                    .split("\\s+", -1);
            assertThat(List.of(top).subList(top.length - 3, top.length))
                    .containsExactly(
                            rounded("%.1f", last.path("seconds"), 1),
                            rounded("%.1f", last.path("waited_seconds"), 1),
                            rounded("%.1f", last.path("utilisation"), 100));
            assertThat(mount.read("status"))
                    .contains("to " + rounded("%.1f", last.path("waited_seconds"), 1)
                            + " s, accelerator utilisation at least");

            Path rates = fixture.directory().resolve("rates.yaml");
            Files.writeString(rates, "model:\n  source:\n    read: {1: 2.5, 4: 10}\n");
            Path page = fixture.directory().resolve("report.html");
            assertThat(fixture.clairfs(
                                    "report", mount.point(), "--html", page, "--calibration", rates, "--step", "0.02")
                            .succeeded())
                    .contains("job train: Data is", "the bottleneck: in epoch 1 ");
            assertThat(cells(page))
                    .containsSubsequence(
                            "1",
                            rounded("%.2f", last.path("seconds"), 1),
                            rounded("%.2f", last.path("waited_seconds"), 1),
                            rounded("%.1f", last.path("utilisation"), 100) + " %")
                    .contains("as it is", "memory x 2");
            JsonNode told = JSON.readTree(fixture.clairfs("report", mount.point(), "--json", "--job", "train")
                    .succeeded());
            assertThat(told.path("mount").asString()).isEqualTo(mount.point().toString());
            assertThat(told.at("/jobs/0/epochs/1/waited_seconds")).isEqualTo(last.path("waited_seconds"));
            assertThat(told.at("/jobs/0/verdict").asString()).contains("the bottleneck", "in epoch 1 ");
            assertThat(fixture.clairfs("report", mount.point(), "--job", "other")
                            .complainedWith(1))
                    .contains("there is no job 'other'", "train, idle");
            assertThat(fixture.clairfs("report", mount.point(), "--html", "/nowhere/at/all.html")
                            .complainedWith(1))
                    .contains("cannot write /nowhere/at/all.html");
            assertThat(fixture.clairfs("report", mount.point(), "--step", "-1").complainedWith(2))
                    .contains("--step must be a number of seconds");
        }
    }

    // Promise J20
    @Tag("exhaustive")
    @Test
    void reads_from_the_page_cache_are_no_waits() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, SAMPLE_BYTES);
        LiveMount mount = fixture.mount(source);
        mount.awaitReady();
        mount.job("seed=7 epochs=1 batch=4 workers=0");
        mount.await("all staged", s -> s.at("/jobs/0/staged_ahead").asInt() == SAMPLES);
        readAll(mount, "train", 0);
        JsonNode status = mount.await( // who opened what is told behind the positions
                "the end",
                s -> s.at("/jobs/0/done").asBoolean()
                        && s.at("/jobs/0/history/0/opened").asInt() == SAMPLES);
        JsonNode epoch = status.at("/jobs/0/history/0");
        assertThat(status.at("/reads/upcalls").asInt()).isZero();
        assertThat(epoch.path("samples").asInt()).isEqualTo(SAMPLES);
        assertThat(epoch.path("from_page_cache").asInt()).isEqualTo(SAMPLES);
        assertThat(epoch.path("waited_seconds").asDouble()).isZero();
        assertThat(epoch.path("utilisation").asDouble()).isEqualTo(1);
        assertThat(fixture.clairfs("report", mount.point()).succeeded())
                .contains("job train: Data is not the bottleneck", "100.0 %", "clairfs calibrate " + source);
    }

    // Promise J20
    @Test
    void what_the_training_tells_is_its_wait() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, SAMPLE_BYTES);
        LiveMount mount = fixture.mount(source);
        mount.awaitReady();
        mount.job("seed=7 epochs=3 batch=4 workers=2");
        String[] seen = fixture.python("loop_waits.py", mount.point(), 2)
                .strip()
                .lines()
                .toList()
                .getLast()
                .split(" ", -1);
        JsonNode job = mount.status().at("/jobs/0");
        assertThat(job.path("in_sync").asBoolean()).isTrue();
        assertThat(job.path("history")).hasSize(2);
        for (int epoch = 0; epoch < 2; epoch++) {
            JsonNode told = job.path("history").path(epoch);
            assertThat(told.path("told").asBoolean()).isTrue();
            assertThat(told.path("waited_seconds").asDouble())
                    .isEqualTo(told.path("waited_at_least_seconds").asDouble())
                    .isPositive()
                    .isLessThanOrEqualTo(Double.parseDouble(seen[2 * epoch])); // measured around the same
            assertThat(told.path("seconds").asDouble())
                    .isGreaterThan(told.path("waited_seconds").asDouble())
                    .isLessThanOrEqualTo(Double.parseDouble(seen[2 * epoch + 1]));
        }
    }
}
