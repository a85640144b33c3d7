package io.clairfs.tools.node.status;

import io.clairfs.cache.status.Latency;
import io.clairfs.tools.node.status.Metrics.Kind;
import io.clairfs.tools.node.status.Metrics.Metric;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * The status in the Prometheus text format. All numbers are those of one {@code status.json}, by the names of {@link Metrics}; the histograms
 * are beside it, because the status has their percentiles only.
 */
public final class PrometheusText {
    private static final String TOTAL = "_total";

    /** The labels of the elements of a list: its place, and for each label the key that has its value. */
    private static final Map<String, Map<String, String>> ELEMENTS = Map.of(
            "jobs[]", Map.of("job", "name"),
            "readers[]", Map.of("rank", "rank"),
            "feeders[]", Map.of("rank", "rank"),
            "tiers[]", Map.of("tier", "name"),
            "peers[]", Map.of("peer", "name"),
            "rails[]", Map.of("rail", "address"));

    /** Lists whose elements may have one name: from the second on it has a number behind it, as {@code ssd-2}. */
    private static final Set<String> NUMBERED = Set.of("tiers[]");

    /** The labels of the keys of a map. */
    private static final Map<String, String> KEYS = Map.of("fetched", "from", "areas", "area");

    private final JsonNode status;
    private final Map<String, List<DataPoint>> points = new LinkedHashMap<>();

    private record DataPoint(Labels labels, double value) {}

    private PrometheusText(JsonNode status) {
        this.status = status;
    }

    /**
     * The text.
     *
     * @param status as in {@code status.json}
     * @param times those of {@link Metrics#HISTOGRAMS}
     */
    public static byte[] of(JsonNode status, Map<String, Latency.Buckets> times) {
        PrometheusText text = new PrometheusText(status);
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        all.metricSnapshot(text.info());
        Metrics.ALL.forEach(text::collect);
        Metrics.FLAGS.forEach(text::collect);
        Map<String, Metric> first = new LinkedHashMap<>();
        for (List<Metric> table : List.of(Metrics.ALL, Metrics.FLAGS)) {
            table.forEach(metric -> first.putIfAbsent(base(metric.name()), metric));
        }
        text.points.forEach(
                (name, found) -> all.metricSnapshot(snapshot(name, Objects.requireNonNull(first.get(name)), found)));
        Metrics.HISTOGRAMS.forEach((key, histogram) -> {
            Latency.Buckets seen = times.get(key);
            if (seen != null) {
                all.metricSnapshot(snapshot(histogram, seen));
            }
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(out, all.build());
        } catch (IOException e) {
            throw new AssertionError("an array takes every byte", e);
        }
        return out.toByteArray();
    }

    /** The name without the labels that stand behind it. */
    static String base(String name) {
        int labels = name.indexOf('{');
        return labels < 0 ? name : name.substring(0, labels);
    }

    private MetricSnapshot info() {
        return InfoSnapshot.builder()
                .name("clairfs")
                .help("The version of clairfs.")
                .dataPoint(InfoDataPointSnapshot.builder()
                        .labels(Labels.of("version", status.path("version").asString("")))
                        .build())
                .build();
    }

    private void collect(Metric metric) {
        if (!metric.name().isEmpty()) {
            collect(metric, status, metric.path(), own(metric.name()));
        }
    }

    /** The labels that a name brings, as in {@code reads_total{from="daemon"}}. */
    private static Labels own(String name) {
        int labels = name.indexOf('{');
        if (labels < 0) {
            return Labels.EMPTY;
        }
        String[] pair = name.substring(labels + 1, name.length() - 1).split("=", 2);
        return Labels.of(pair[0], pair[1].replace("\"", ""));
    }

    /** Goes down the path, with all elements of lists and maps on the way. A null on the way is nothing to tell. */
    private void collect(Metric metric, JsonNode at, String path, Labels labels) {
        int dot = path.indexOf('.');
        String head = dot < 0 ? path : path.substring(0, dot);
        String tail = dot < 0 ? "" : path.substring(dot + 1);
        if (head.endsWith("[]")) {
            Map<String, String> names = ELEMENTS.getOrDefault(head, Map.of());
            Set<Labels> used = new HashSet<>();
            for (JsonNode element : at.path(head.substring(0, head.length() - 2))) {
                Labels its = with(labels, names, element, "");
                for (int number = 2; !used.add(its) && NUMBERED.contains(head); number++) {
                    its = with(labels, names, element, "-" + number);
                }
                collect(metric, element, tail, its);
            }
        } else if (tail.startsWith("*")) {
            String rest = tail.length() > 2 ? tail.substring(2) : "";
            String label = KEYS.getOrDefault(head, "key");
            at.path(head).properties().forEach(entry -> {
                Labels longer = labels.add(label, entry.getKey());
                if (rest.isEmpty()) {
                    add(metric, longer, entry.getValue());
                } else {
                    collect(metric, entry.getValue(), rest, longer);
                }
            });
        } else if (tail.isEmpty()) {
            add(metric, labels, at.path(head));
        } else {
            collect(metric, at.path(head), tail, labels);
        }
    }

    private static Labels with(Labels labels, Map<String, String> names, JsonNode element, String behind) {
        Labels longer = labels;
        for (Map.Entry<String, String> name : names.entrySet()) {
            longer = longer.add(name.getKey(), element.path(name.getValue()).asString("") + behind);
        }
        return longer;
    }

    private void add(Metric metric, Labels labels, JsonNode value) {
        if (value.isNumber() || value.isBoolean()) {
            double number = value.isBoolean() ? (value.asBoolean() ? 1 : 0) : value.asDouble();
            List<DataPoint> before = points.computeIfAbsent(base(metric.name()), _ -> new ArrayList<>());
            if (before.stream().noneMatch(point -> point.labels.equals(labels))) { // as with two feeders of one rank
                before.add(new DataPoint(labels, number));
            }
        }
    }

    private static MetricSnapshot snapshot(String name, Metric metric, List<DataPoint> found) {
        String help = help(metric);
        if (metric.kind() == Kind.COUNTER) {
            CounterSnapshot.Builder counter = CounterSnapshot.builder()
                    .name(name.substring(0, name.length() - TOTAL.length()))
                    .help(help);
            found.forEach(point -> counter.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(point.labels)
                    .value(point.value)
                    .build()));
            return counter.build();
        }
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(name).help(help);
        found.forEach(point -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(point.labels)
                .value(point.value)
                .build()));
        return gauge.build();
    }

    private static String help(Metric metric) {
        String unit = metric.unit().equals("1") ? "" : ", " + metric.unit();
        int dot = metric.path().lastIndexOf('.');
        return metric.name().contains("{")
                ? metric.path().substring(0, dot) + ".* of status.json" + unit // one of several
                : metric.path() + " of status.json" + unit + ": " + metric.description();
    }

    private static MetricSnapshot snapshot(Metrics.Histogram histogram, Latency.Buckets seen) {
        return HistogramSnapshot.builder()
                .name(histogram.name())
                .help("Seconds of " + histogram.description())
                .dataPoint(HistogramDataPointSnapshot.builder()
                        .classicHistogramBuckets(ClassicHistogramBuckets.of(seen.upperSeconds(), seen.counts()))
                        .sum(seen.sumSeconds())
                        .build())
                .build();
    }
}
