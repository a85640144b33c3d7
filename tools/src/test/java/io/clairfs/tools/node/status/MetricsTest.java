package io.clairfs.tools.node.status;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.status.Latency;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MetricsTest {
    private static final Path PAGE = Path.of("..", "docs", "METRICS.md");
    private static final Path DASHBOARD = Path.of("..", "docs", "grafana", "clairfs.json");

    /** Collects the path of each number in {@code status.json}, from the types alone. */
    private static void numbers(Type type, String path, Set<String> into) {
        ofType(type, path, Set.of(int.class, long.class, double.class, Integer.class, Long.class, Double.class), into);
    }

    private static void ofType(Type type, String path, Set<Class<?>> wanted, Set<String> into) {
        switch (type) {
            case ParameterizedType generic
            when generic.getRawType() == List.class ->
                ofType(generic.getActualTypeArguments()[0], path + "[]", wanted, into);
            case ParameterizedType generic
            when generic.getRawType() == Map.class ->
                ofType(generic.getActualTypeArguments()[1], path + ".*", wanted, into);
            case Class<?> record
            when record.isRecord() -> {
                for (RecordComponent component : record.getRecordComponents()) {
                    String name =
                            component.getName().replaceAll("(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
                    ofType(component.getGenericType(), path.isEmpty() ? name : path + "." + name, wanted, into);
                }
            }
            case Class<?> plain -> {
                if (wanted.contains(plain)) {
                    into.add(path);
                }
            }
            default -> throw new AssertionError("what is " + type + " at " + path);
        }
    }

    @Test
    void everyNumberOfTheStatus_isInTheTable_andNoOther() {
        Set<String> numbers = new TreeSet<>();
        numbers(Status.class, "", numbers);
        assertThat(Metrics.ALL.stream().map(Metrics.Metric::path)).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(Metrics.ALL.stream().map(Metrics.Metric::path).toList()))
                .isEqualTo(numbers)
                .hasSizeGreaterThan(40);
    }

    @Test
    void everyFlagOfTheStatus_isInTheTable_andNoOther() {
        Set<String> flags = new TreeSet<>();
        ofType(Status.class, "", Set.of(boolean.class), flags);
        assertThat(Metrics.FLAGS.stream().map(Metrics.Metric::path)).containsExactlyInAnyOrderElementsOf(flags);
    }

    @Test
    void namesForPrometheus_followItsHabits() {
        List<Metrics.Metric> named = Stream.concat(Metrics.ALL.stream(), Metrics.FLAGS.stream())
                .filter(metric -> !metric.name().isEmpty())
                .toList();
        assertThat(named.stream().map(Metrics.Metric::name)).doesNotHaveDuplicates();
        assertThat(named).allSatisfy(metric -> {
            String name = PrometheusText.base(metric.name());
            assertThat(name).matches("clairfs_[a-z_]+");
            assertThat(name.endsWith("_total")).isEqualTo(metric.kind() == Metrics.Kind.COUNTER);
            if (metric.unit().equals("seconds") || metric.unit().equals("bytes")) {
                assertThat(name).contains("_" + metric.unit());
            }
        });
    }

    @Test
    void dashboard_asksForNothingElse() throws Exception {
        JsonNode dashboard = new JsonMapper().readTree(Files.readString(DASHBOARD));
        Set<String> known = new TreeSet<>();
        Metrics.ALL.forEach(metric -> known.add(PrometheusText.base(metric.name())));
        Metrics.FLAGS.forEach(metric -> known.add(metric.name()));
        Metrics.HISTOGRAMS.values().forEach(histogram -> known.add(histogram.name() + "_bucket"));
        Set<String> asked = new TreeSet<>();
        List<JsonNode> texts = new ArrayList<>(dashboard.findValues("expr"));
        texts.addAll(dashboard.findValues("query"));
        for (JsonNode text : texts) {
            Matcher names = Pattern.compile("clairfs_[a-z_]+").matcher(text.asString());
            while (names.find()) {
                asked.add(names.group());
            }
        }
        assertThat(dashboard.path("panels").size()).isGreaterThan(8);
        assertThat(asked).hasSizeGreaterThan(15).isSubsetOf(known);
    }

    @Test
    void text_hasLabelsFromListsAndMaps_andHistograms() {
        JsonNode status = new JsonMapper().readTree("""
                {"version": "1", "samples": 5, "ready": true,
                 "jobs": [{"name": "a\\"b", "epochs": null, "deviations": 2, "in_sync": false,
                           "readers": [{"rank": 3, "seconds_staged": 1.5}], "feeders": [{"rank": 0, "slots": 4}, {"rank": 0, "slots": 5}]}],
                 "fetched": {"source": {"count": 7, "bytes": 70}}, "kernel": {"read": 9},
                 "memory": {"areas": {"heap": 11}}, "tiers": [{"name": "ssd", "used_bytes": 12, "writable": false}, {"name": "ssd", "used_bytes": 13}]}
                """);
        Latency waits = new Latency();
        waits.record(2_000_000);
        waits.record(90_000_000_000L);
        String text = new String(PrometheusText.of(status, Map.of("read_wait", waits.buckets())), UTF_8);
        assertThat(text.lines())
                .contains(
                        "clairfs_info{version=\"1\"} 1",
                        "clairfs_dataset_samples 5.0",
                        "clairfs_ready 1.0",
                        "clairfs_deviations_total{job=\"a\\\"b\"} 2.0",
                        "clairfs_job_in_sync{job=\"a\\\"b\"} 0.0",
                        "clairfs_staged_ahead_seconds{job=\"a\\\"b\",rank=\"3\"} 1.5",
                        "clairfs_feeder_slots{job=\"a\\\"b\",rank=\"0\"} 4.0",
                        "clairfs_fetched_bytes_total{from=\"source\"} 70.0",
                        "clairfs_kernel_requests_total{operation=\"read\"} 9.0",
                        "clairfs_memory_area_limit_bytes{area=\"heap\"} 11.0",
                        "clairfs_tier_bytes{tier=\"ssd\"} 12.0",
                        "clairfs_tier_bytes{tier=\"ssd-2\"} 13.0",
                        "clairfs_tier_writable{tier=\"ssd\"} 0.0",
                        "clairfs_read_wait_seconds_bucket{le=\"0.001\"} 0",
                        "clairfs_read_wait_seconds_bucket{le=\"0.0025\"} 1",
                        "clairfs_read_wait_seconds_bucket{le=\"60.0\"} 1",
                        "clairfs_read_wait_seconds_bucket{le=\"+Inf\"} 2",
                        "clairfs_read_wait_seconds_count 2",
                        "clairfs_read_wait_seconds_sum 90.002")
                .noneMatch(line -> line.startsWith("clairfs_job_epochs"));
    }

    @Test
    void thePageOfTheMetrics_isTheTable() throws Exception {
        assertThat(Files.readString(PAGE)).contains(Metrics.markdown()).contains(Metrics.markdownOfFlags());
    }
}
