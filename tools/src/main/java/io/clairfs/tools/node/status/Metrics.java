package io.clairfs.tools.node.status;

import static io.clairfs.tools.node.status.Metrics.Kind.COUNTER;
import static io.clairfs.tools.node.status.Metrics.Kind.GAUGE;

import java.util.List;

/**
 * All numbers that clairfs reports about itself, in one table: place in {@code status.json}, unit, stability, meaning. docs/METRICS.md is this
 * table.
 */
public final class Metrics {
    /** The metrics of a node and its mount, in the order of {@code status.json}. */
    public static final List<Metric> ALL = List.of(
            gauge("pid", "1", "the daemon's process"),
            gauge("samples", "samples", "of the dataset; files found so far until all are listed"),
            gauge("bytes", "bytes", "of all files"),
            counter("view.headers_read", "files", "whose header was read for the size of what a view makes of them"),
            counter("view.made", "samples", "that a view made on this node"),
            gauge("jobs[].epochs", "epochs", "of the run; null if unknown"),
            gauge("jobs[].world", "ranks", "of the job, on all nodes"),
            gauge("jobs[].samples", "samples", "of the part of the dataset that the job reads"),
            gauge("jobs[].epoch", "1", "of the first rank's trainer, counted from 0"),
            gauge("jobs[].position", "samples", "read in this epoch by the first rank's trainer"),
            gauge("jobs[].length", "samples", "of this epoch for one rank"),
            counter("jobs[].deviations", "reads", "that deviated from the order"),
            gauge("jobs[].staged_ahead", "samples", "staged and not yet read"),
            gauge("jobs[].window", "samples", "that a rank's reader processes hold at once; 0 if unknown"),
            gauge("jobs[].readers[].rank", "1", "served by this node"),
            gauge("jobs[].readers[].loaders", "threads", "assigned to it now"),
            gauge("jobs[].readers[].staged_ahead", "samples", "staged and not yet read by this rank"),
            gauge("jobs[].readers[].seconds_staged", "seconds", "until the rank has read these; 0 if unknown"),
            counter(
                    "jobs[].steps",
                    "steps",
                    "for which all ranks here, at least two, were seen to get their batches; 0 if `batch` is not known"),
            counter(
                    "jobs[].imbalanced_steps",
                    "steps",
                    "of those, in which one rank got its batch later than another by more than a tenth of the step"),
            gauge("jobs[].loading.workers", "processes", "of the loaders of all ranks here, as they report"),
            gauge("jobs[].loading.read_seconds", "seconds", "that a worker waits for a sample's bytes"),
            gauge("jobs[].loading.transform_seconds", "seconds", "that a worker then works on a sample"),
            gauge(
                    "jobs[].exchange.epoch",
                    "1",
                    "for which samples come from other nodes, where they move with their readers"),
            gauge("jobs[].exchange.receives", "samples", "that come for it"),
            gauge("jobs[].exchange.received", "samples", "that have come"),
            gauge("jobs[].exchange.received_bytes", "bytes", "of these"),
            gauge("jobs[].exchange.sends", "samples", "that go to other nodes for it"),
            gauge("jobs[].exchange.sent", "samples", "of these that another node has"),
            gauge("jobs[].exchange.behind", "samples", "fewer than would have come at an even pace"),
            gauge("jobs[].feeders[].pid", "1", "of the process of a feeder"),
            gauge("jobs[].feeders[].rank", "1", "that it feeds"),
            gauge("jobs[].feeders[].slots", "batches", "that its ring holds"),
            gauge("jobs[].feeders[].ready", "batches", "that the trainer has or can have at once"),
            gauge("jobs[].feeders[].threads", "threads", "that read and decode now"),
            counter("jobs[].feeders[].batches", "batches", "sent to the trainer"),
            counter("jobs[].feeders[].bad", "batches", "that failed"),
            counter("jobs[].feeders[].samples", "samples", "read by the feeder"),
            counter("jobs[].feeders[].bytes", "bytes", "of these files"),
            counter("jobs[].feeders[].read_seconds", "seconds", "of its threads for reading"),
            counter("jobs[].feeders[].decode_seconds", "seconds", "of its threads for decoding"),
            counter("jobs[].feeders[].waited_seconds", "seconds", "that the trainer waited for batches"),
            gauge("find_seed.reads", "reads", "first reads of a trainer, collected to find its seed"),
            gauge("find_seed.candidates", "orders", "that the last search for it has tried"),
            counter("reads.opened", "files", "closed by readers"),
            counter("reads.from_page_cache", "files", "of those, served without a request"),
            counter("reads.upcalls", "files", "of those, served by the daemon"),
            counter("reads.requests", "requests", "for bytes that the kernel sent"),
            counter("reads.bytes", "bytes", "sent in reply"),
            counter("reads.errors", "requests", "that failed"),
            counter("reads.reports_lost", "times", "that inotify's queue overflowed"),
            gauge("reads.unwatched_directories", "directories", "of samples that could not be watched"),
            counter("fetched.*.count", "samples", "that came from memory, ssd, peer or source"),
            counter("fetched.*.bytes", "bytes", "that came from there"),
            counter(
                    "peers_passed_over",
                    "samples",
                    "fetched from the source though a peer should have had them: it was slower, late or left alone"),
            counter("kernel.getattr", "requests", "for names and attributes"),
            counter("kernel.readdir", "requests", "for the names of a directory"),
            counter("kernel.readlink", "requests", "for the target of a link"),
            counter("kernel.read", "requests", "for pieces of files"),
            counter("stall_seconds", "seconds", "that requests waited, summed over requests"),
            counter("latency.*.count", "times", "that were measured"),
            gauge("latency.*.p50", "seconds", "median"),
            gauge("latency.*.p90", "seconds", "90th percentile"),
            gauge("latency.*.p99", "seconds", "99th percentile"),
            gauge("latency.*.p999", "seconds", "99.9th percentile"),
            gauge("latency.*.max", "seconds", "maximum"),
            gauge("staging.capacity_bytes", "bytes", "of the staging buffer"),
            gauge("staging.used_bytes", "bytes", "staged or being staged"),
            gauge("staging.samples", "samples", "staged or being staged"),
            counter("staging.pushed", "samples", "put into the page cache"),
            counter("staging.lost", "samples", "that lost pages before they were read, and were staged again"),
            gauge("memory.total_bytes", "bytes", "limit of the daemon, all areas together"),
            gauge("memory.areas.*", "bytes", "limit of the area, used or not"),
            gauge("tiers[].capacity_bytes", "bytes", "of the tier"),
            gauge("tiers[].used_bytes", "bytes", "in use there"),
            gauge("tiers[].samples", "samples", "resident there"),
            counter("tiers[].checksum_failures", "samples", "that failed their checksum, and came from another place"),
            counter("tiers[].read_failures", "samples", "that could not be read from the tier"),
            counter("tiers[].write_failures", "samples", "that could not be written to the tier"),
            gauge("peers[].samples", "samples", "resident on that node"),
            counter("checksum_failures", "samples", "that failed their checksum in any tier"),
            counter("errors", "lines", "of errors"),
            gauge("process.heap_bytes", "bytes", "of the heap in use, garbage included"),
            counter("process.allocated_bytes", "bytes", "allocated on the heap"),
            gauge("process.descriptors", "descriptors", "open"),
            gauge("process.threads", "threads", "of the JVM"),
            gauge("process.native_bytes", "bytes", "of samples outside the heap"),
            counter("process.cpu_seconds", "seconds", "of processor time"),
            counter("uptime_seconds", "seconds", "since the daemon began"));

    private Metrics() {}

    /** Whether a number only grows while the daemon lives. */
    public enum Kind {
        COUNTER,
        GAUGE
    }

    /** Whether a later version may change its meaning. */
    public enum Stability {
        /** It stays as it is; programs may rely on it. */
        STABLE
    }

    /**
     * One number.
     *
     * @param path its place in {@code status.json}; {@code []} is each element of a list, {@code *} each key of a map
     * @param unit what is counted, or the unit of measurement; 1 for a bare number
     * @param description continues "the number of UNIT ..."
     */
    public record Metric(String path, Kind kind, String unit, Stability stability, String description) {}

    private static Metric counter(String path, String unit, String description) {
        return new Metric(path, COUNTER, unit, Stability.STABLE, description);
    }

    private static Metric gauge(String path, String unit, String description) {
        return new Metric(path, GAUGE, unit, Stability.STABLE, description);
    }

    /** The table, as Markdown. */
    public static String markdown() {
        StringBuilder text =
                new StringBuilder("| in `status.json` | kind | unit | stability | what |\n|---|---|---|---|---|\n");
        for (Metric m : ALL) {
            text.append("| `%s` | %s | %s | %s | %s |\n"
                    .formatted(m.path, word(m.kind), m.unit, word(m.stability), m.description));
        }
        return text.toString();
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(java.util.Locale.ROOT);
    }
}
