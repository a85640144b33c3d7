package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * The resources of a daemon at one moment, as the kernel and the daemon itself count them.
 *
 * @param atNs as {@link System#nanoTime}
 * @param nativeMb samples outside the heap
 * @param staged samples pushed into the kernel's page cache and not dropped since, whose inodes are pinned
 */
record DaemonFigures(
        int node,
        long atNs,
        double residentMb,
        double heapMb,
        double nativeMb,
        int descriptors,
        int threads,
        int staged) {
    private static final double MB = 1e6;
    private static final double KIB = 1024;
    private static final double NANOS_PER_MINUTE = 60e9;
    private static final int ROWS = 12;

    /**
     * The allowed growth of a quantity from the first to the second half of the last third of the run: a twentieth, or {@code slack} if
     * that is more. Threads, descriptors and buffers of fetches in flight vary by that much.
     */
    private static final double GROWTH = 0.05;

    /**
     * A quantity that is judged.
     *
     * @param share the quantile of the looks that is compared: half for quantities that vary a little, the least for resident and native
     *     memory: most looks may find a large sample that is being read, and what is never given back raises the least too
     */
    private record Quantity(String name, double slack, double share, ToDoubleFunction<DaemonFigures> of) {}

    private static final List<Quantity> QUANTITIES = List.of(
            new Quantity("resident MB", 8, 0, DaemonFigures::residentMb),
            new Quantity("heap MB", 16, 0.5, DaemonFigures::heapMb),
            new Quantity("native MB", 4, 0, DaemonFigures::nativeMb),
            new Quantity("descriptors", 16, 0.5, DaemonFigures::descriptors),
            new Quantity("threads", 16, 0.5, DaemonFigures::threads),
            new Quantity("staged", 16, 0.5, DaemonFigures::staged));

    /** Collects a daemon's garbage and looks at it, so that its heap contains only live objects. */
    static DaemonFigures of(int node, StressNode daemon) throws Exception {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Ended.run(List.of(jcmd, Long.toString(daemon.pid()), "GC.run"), Map.of())
                .succeeded();
        JsonNode status = daemon.control(() -> daemon.mount().status());
        Path process = Path.of("/proc", Long.toString(daemon.pid()));
        double resident = Files.readAllLines(process.resolve("status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
        return new DaemonFigures(
                node,
                System.nanoTime(),
                resident * KIB / MB,
                status.at("/process/heap_bytes").asLong() / MB,
                status.at("/process/native_bytes").asLong() / MB,
                entries(process.resolve("fd")),
                entries(process.resolve("task")),
                status.at("/staging/samples").asInt());
    }

    private static int entries(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return (int) all.count();
        }
    }

    /** A table with a dozen rows for each node: means over equal parts of the run. */
    static String table(List<DaemonFigures> all) {
        StringBuilder text = new StringBuilder();
        for (int node = 0; !of(node, all).isEmpty(); node++) {
            List<DaemonFigures> mine = of(node, all);
            text.append(String.format(Locale.ROOT, "%nnode %d, %d samples%n%8s", node, mine.size(), "minute"));
            QUANTITIES.forEach(q -> text.append(String.format(Locale.ROOT, "%13s", q.name())));
            for (int row = 0; row < ROWS; row++) {
                List<DaemonFigures> part = mine.subList(mine.size() * row / ROWS, mine.size() * (row + 1) / ROWS);
                if (!part.isEmpty()) {
                    double minute = (part.getLast().atNs() - mine.getFirst().atNs()) / NANOS_PER_MINUTE;
                    text.append(String.format(Locale.ROOT, "%n%8.1f", minute));
                    QUANTITIES.forEach(q -> text.append(String.format(Locale.ROOT, "%13.1f", mean(part, q))));
                }
            }
        }
        return text + "\n";
    }

    /** A line for each quantity that grew. */
    static List<String> judge(List<DaemonFigures> all) {
        List<String> grown = new ArrayList<>();
        for (int node = 0; !of(node, all).isEmpty(); node++) {
            List<DaemonFigures> mine = of(node, all);
            List<DaemonFigures> before = mine.subList(mine.size() * 4 / 6, mine.size() * 5 / 6);
            List<DaemonFigures> after = mine.subList(mine.size() * 5 / 6, mine.size());
            if (before.isEmpty()) {
                continue;
            }
            for (Quantity quantity : QUANTITIES) {
                double was = quantile(before, quantity);
                double is = quantile(after, quantity);
                if (is > was + Math.max(was * GROWTH, quantity.slack())) {
                    grown.add(String.format(
                            Locale.ROOT, "node %d: %s from %.1f to %.1f", node, quantity.name(), was, is));
                }
            }
        }
        return grown;
    }

    private static List<DaemonFigures> of(int node, List<DaemonFigures> all) {
        return all.stream().filter(f -> f.node() == node).toList();
    }

    private static double quantile(List<DaemonFigures> part, Quantity quantity) {
        double[] sorted = part.stream().mapToDouble(quantity.of()).sorted().toArray();
        double at = (sorted.length - 1) * quantity.share();
        return (sorted[(int) Math.floor(at)] + sorted[(int) Math.ceil(at)]) / 2;
    }

    private static double mean(List<DaemonFigures> part, Quantity quantity) {
        return part.stream().mapToDouble(quantity.of()).average().orElseThrow();
    }
}
