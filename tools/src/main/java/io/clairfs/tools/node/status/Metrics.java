package io.clairfs.tools.node.status;

import static io.clairfs.tools.node.status.Metrics.Kind.COUNTER;
import static io.clairfs.tools.node.status.Metrics.Kind.GAUGE;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All numbers that clairfs reports about itself, in one table: place in {@code status.json}, unit, stability, meaning. docs/METRICS.md is this
 * table.
 */
public final class Metrics {
    /** The metrics of a node and its mount, in the order of {@code status.json}. */
    public static final List<Metric> ALL = List.of(
            gauge("pid", "", "1", "the daemon's process"),
            gauge(
                    "samples",
                    "clairfs_dataset_samples",
                    "samples",
                    "of the dataset; files found so far until all are listed"),
            gauge("bytes", "clairfs_dataset_bytes", "bytes", "of all files"),
            counter(
                    "view.headers_read",
                    "clairfs_view_headers_read_total",
                    "files",
                    "whose header was read for the size of what a view makes of them"),
            counter("view.made", "clairfs_view_made_samples_total", "samples", "that a view made on this node"),
            counter(
                    "view.made_for_peers",
                    "clairfs_view_made_for_peers_samples_total",
                    "samples",
                    "of these, made for other nodes that asked for that"),
            counter(
                    "view.made_elsewhere",
                    "clairfs_view_made_elsewhere_samples_total",
                    "samples",
                    "that other nodes made for this one when asked"),
            counter(
                    "view.makers_failed",
                    "clairfs_view_makers_failed_total",
                    "requests",
                    "to make a sample that another node refused or did not answer in time"),
            gauge("jobs[].epochs", "clairfs_job_epochs", "epochs", "of the run; null if unknown"),
            gauge("jobs[].world", "clairfs_job_ranks", "ranks", "of the job, on all nodes"),
            gauge("jobs[].samples", "clairfs_job_samples", "samples", "of the part of the dataset that the job reads"),
            gauge("jobs[].epoch", "clairfs_job_epoch", "1", "of the first rank's trainer, counted from 0"),
            gauge(
                    "jobs[].position",
                    "clairfs_job_position_samples",
                    "samples",
                    "read in this epoch by the first rank's trainer"),
            gauge("jobs[].length", "clairfs_job_epoch_samples", "samples", "of this epoch for one rank"),
            counter("jobs[].deviations", "clairfs_deviations_total", "reads", "that deviated from the order"),
            gauge("jobs[].staged_ahead", "clairfs_job_staged_ahead_samples", "samples", "staged and not yet read"),
            gauge(
                    "jobs[].window",
                    "clairfs_job_window_samples",
                    "samples",
                    "that a rank's reader processes hold at once; 0 if `batch` is unknown"),
            gauge("jobs[].readers[].rank", "", "1", "served by this node"),
            gauge("jobs[].readers[].loaders", "clairfs_loaders", "threads", "assigned to it now"),
            gauge(
                    "jobs[].readers[].staged_ahead",
                    "clairfs_staged_ahead_samples",
                    "samples",
                    "staged and not yet read by this rank"),
            gauge(
                    "jobs[].readers[].seconds_staged",
                    "clairfs_staged_ahead_seconds",
                    "seconds",
                    "until the rank has read these; 0 if unknown"),
            counter(
                    "jobs[].steps",
                    "clairfs_steps_total",
                    "steps",
                    "for which all ranks here, at least two, were seen to get their batches; 0 if `batch` is not known"),
            counter(
                    "jobs[].imbalanced_steps",
                    "clairfs_imbalanced_steps_total",
                    "steps",
                    "of those, in which one rank got its batch later than another by more than a tenth of the step"),
            gauge(
                    "jobs[].loading.workers",
                    "clairfs_loading_workers",
                    "processes",
                    "of the loaders of all ranks here, as they report"),
            gauge(
                    "jobs[].loading.read_seconds",
                    "clairfs_loading_read_seconds",
                    "seconds",
                    "that a worker waits for a sample's bytes"),
            gauge(
                    "jobs[].loading.transform_seconds",
                    "clairfs_loading_transform_seconds",
                    "seconds",
                    "that a worker then works on a sample"),
            gauge(
                    "jobs[].exchange.epoch",
                    "clairfs_exchange_epoch",
                    "1",
                    "for which samples come from other nodes, where they move with their readers"),
            gauge("jobs[].exchange.receives", "clairfs_exchange_expected_samples", "samples", "that come for it"),
            gauge("jobs[].exchange.received", "clairfs_exchange_received_samples", "samples", "that have come"),
            gauge("jobs[].exchange.received_bytes", "clairfs_exchange_received_bytes", "bytes", "of these"),
            gauge(
                    "jobs[].exchange.sends",
                    "clairfs_exchange_outgoing_samples",
                    "samples",
                    "that go to other nodes for it"),
            gauge("jobs[].exchange.sent", "clairfs_exchange_sent_samples", "samples", "of these that another node has"),
            gauge(
                    "jobs[].exchange.behind",
                    "clairfs_exchange_behind_samples",
                    "samples",
                    "fewer than would have come at an even pace"),
            gauge("jobs[].feeders[].pid", "", "1", "of the process of a feeder"),
            gauge("jobs[].feeders[].rank", "", "1", "that it feeds"),
            gauge("jobs[].feeders[].slots", "clairfs_feeder_slots", "batches", "that its ring holds"),
            gauge(
                    "jobs[].feeders[].ready",
                    "clairfs_feeder_ready_batches",
                    "batches",
                    "that the trainer has or can have at once"),
            gauge("jobs[].feeders[].threads", "clairfs_feeder_threads", "threads", "that read and decode now"),
            counter("jobs[].feeders[].batches", "clairfs_feeder_batches_total", "batches", "sent to the trainer"),
            counter("jobs[].feeders[].bad", "clairfs_feeder_bad_batches_total", "batches", "that failed"),
            counter("jobs[].feeders[].samples", "clairfs_feeder_samples_total", "samples", "read by the feeder"),
            counter("jobs[].feeders[].bytes", "clairfs_feeder_bytes_total", "bytes", "of these files"),
            counter(
                    "jobs[].feeders[].read_seconds",
                    "clairfs_feeder_read_seconds_total",
                    "seconds",
                    "of its threads for reading"),
            counter(
                    "jobs[].feeders[].decode_seconds",
                    "clairfs_feeder_decode_seconds_total",
                    "seconds",
                    "of its threads for decoding"),
            counter(
                    "jobs[].feeders[].waited_seconds",
                    "clairfs_feeder_waited_seconds_total",
                    "seconds",
                    "that the trainer waited for batches"),
            counter(
                    "jobs[].feeders[].copied_bytes",
                    "clairfs_feeder_copied_bytes_total",
                    "bytes",
                    "of batches that went to a GPU"),
            counter(
                    "jobs[].feeders[].copy_seconds",
                    "clairfs_feeder_copy_seconds_total",
                    "seconds",
                    "in which a batch was on its way to a GPU"),
            gauge("jobs[].batch", "clairfs_job_batch_samples", "samples", "that a rank reads in a step; 0 if unknown"),
            counter(
                    "jobs[].reader_wait_seconds",
                    "clairfs_job_reader_wait_seconds_total",
                    "seconds",
                    "in which at least one reader of the job waited for the daemon"),
            gauge(
                    "jobs[].sample_seconds",
                    "clairfs_job_sample_seconds",
                    "seconds",
                    "that a sample takes all trainers here while no reader waits; null if unknown"),
            gauge(
                    "jobs[].utilisation",
                    "clairfs_job_accelerator_utilisation",
                    "1",
                    "of the accelerators, at least: the share of the last epoch, or of the one under way, without waits for data; null if unknown"),
            gauge("jobs[].history[].epoch", "", "1", "of the last epochs, counted from 0"),
            gauge("jobs[].history[].seconds", "", "seconds", "from its first request or close to the last"),
            gauge("jobs[].history[].samples", "", "samples", "of it that the ranks here were seen to read"),
            gauge(
                    "jobs[].history[].reader_wait_seconds",
                    "",
                    "seconds",
                    "in which at least one reader waited for the daemon"),
            gauge(
                    "jobs[].history[].waited_seconds",
                    "",
                    "seconds",
                    "that the trainers waited for data, at most ([below](#waits-and-utilisation))"),
            gauge("jobs[].history[].waited_at_least_seconds", "", "seconds", "the same, at least"),
            gauge("jobs[].history[].utilisation", "", "1", "of the accelerators in this epoch, at least"),
            gauge("jobs[].history[].opened", "", "files", "closed by readers meanwhile, of all jobs"),
            gauge("jobs[].history[].from_page_cache", "", "files", "of those, served without a request"),
            gauge(
                    "jobs[].history[].fetched.*.count",
                    "",
                    "samples",
                    "that came from memory, ssd, peer or source meanwhile, for all jobs"),
            gauge("jobs[].history[].fetched.*.bytes", "", "bytes", "that came from there"),
            gauge(
                    "find_seed.reads",
                    "clairfs_find_seed_reads",
                    "reads",
                    "first reads of a trainer, collected to find its seed"),
            gauge(
                    "find_seed.candidates",
                    "clairfs_find_seed_candidates",
                    "orders",
                    "that the last search for it has tried"),
            counter("reads.opened", "clairfs_files_read_total", "files", "closed by readers"),
            counter(
                    "reads.from_page_cache",
                    "clairfs_reads_total{from=\"page_cache\"}",
                    "files",
                    "of those, served without a request"),
            counter(
                    "reads.upcalls",
                    "clairfs_reads_total{from=\"daemon\"}",
                    "files",
                    "that sent a request since they were last closed; those still open count, too"),
            counter("reads.requests", "clairfs_read_requests_total", "requests", "for bytes that the kernel sent"),
            counter("reads.bytes", "clairfs_read_bytes_total", "bytes", "sent in reply"),
            counter("reads.errors", "clairfs_read_errors_total", "requests", "that failed"),
            counter("reads.reports_lost", "clairfs_reports_lost_total", "times", "that inotify's queue overflowed"),
            gauge(
                    "reads.unwatched_directories",
                    "clairfs_unwatched_directories",
                    "directories",
                    "of samples that could not be watched"),
            counter(
                    "fetched.*.count",
                    "clairfs_fetched_samples_total",
                    "samples",
                    "that came from memory, ssd, peer or source"),
            counter("fetched.*.bytes", "clairfs_fetched_bytes_total", "bytes", "that came from there"),
            counter(
                    "peers_passed_over",
                    "clairfs_peers_passed_over_total",
                    "samples",
                    "fetched from the source though a peer should have had them: it was slower, late or left alone"),
            counter(
                    "ssd_passed_over",
                    "clairfs_ssd_passed_over_total",
                    "samples",
                    "fetched from the source though an SSD here holds them: it was slower"),
            counter(
                    "kernel.getattr",
                    "clairfs_kernel_requests_total{operation=\"getattr\"}",
                    "requests",
                    "for names and attributes"),
            counter(
                    "kernel.readdir",
                    "clairfs_kernel_requests_total{operation=\"readdir\"}",
                    "requests",
                    "for the names of a directory"),
            counter(
                    "kernel.readlink",
                    "clairfs_kernel_requests_total{operation=\"readlink\"}",
                    "requests",
                    "for the target of a link"),
            counter(
                    "kernel.read",
                    "clairfs_kernel_requests_total{operation=\"read\"}",
                    "requests",
                    "for pieces of files"),
            counter(
                    "kernel.ioctl",
                    "clairfs_kernel_requests_total{operation=\"ioctl\"}",
                    "requests",
                    "whether a file is a terminal: one for each open() of Python before 3.14"),
            counter(
                    "stall_seconds",
                    "clairfs_read_stall_seconds_total",
                    "seconds",
                    "that requests waited, summed over requests"),
            counter("latency.*.count", "", "times", "that were measured"),
            gauge("latency.*.p50", "", "seconds", "median"),
            gauge("latency.*.p90", "", "seconds", "90th percentile"),
            gauge("latency.*.p99", "", "seconds", "99th percentile"),
            gauge("latency.*.p999", "", "seconds", "99.9th percentile"),
            gauge("latency.*.max", "", "seconds", "maximum"),
            gauge("staging.capacity_bytes", "clairfs_staging_capacity_bytes", "bytes", "of the staging buffer"),
            gauge("staging.used_bytes", "clairfs_staging_bytes", "bytes", "staged or being staged"),
            gauge("staging.loaders", "clairfs_staging_loaders", "threads", "that --loaders shares among the ranks"),
            gauge("staging.samples", "clairfs_staging_samples", "samples", "staged or being staged"),
            counter("staging.pushed", "clairfs_staged_samples_total", "samples", "put into the page cache"),
            counter(
                    "staging.lost",
                    "clairfs_staged_lost_samples_total",
                    "samples",
                    "that lost pages before they were read, and were staged again"),
            gauge(
                    "memory.total_bytes",
                    "clairfs_memory_limit_bytes",
                    "bytes",
                    "limit of the daemon, all areas together"),
            gauge("memory.areas.*", "clairfs_memory_area_limit_bytes", "bytes", "limit of the area, used or not"),
            gauge("tiers[].capacity_bytes", "clairfs_tier_capacity_bytes", "bytes", "of the tier"),
            gauge("tiers[].used_bytes", "clairfs_tier_bytes", "bytes", "in use there"),
            gauge("tiers[].samples", "clairfs_tier_samples", "samples", "resident there"),
            counter(
                    "tiers[].checksum_failures",
                    "clairfs_tier_checksum_failures_total",
                    "samples",
                    "that failed their checksum, and came from another place"),
            counter(
                    "tiers[].read_failures",
                    "clairfs_tier_read_failures_total",
                    "samples",
                    "that could not be read from the tier"),
            counter(
                    "tiers[].write_failures",
                    "clairfs_tier_write_failures_total",
                    "samples",
                    "that could not be written to the tier"),
            gauge("peers[].samples", "clairfs_peer_samples", "samples", "resident on that node, each once"),
            gauge(
                    "peers[].spare_threads",
                    "clairfs_peer_spare_threads",
                    "threads",
                    "with which that node makes samples of a view for others"),
            gauge(
                    "peers[].rails[].bytes_per_second",
                    "clairfs_peer_rail_bytes_per_second",
                    "bytes per second",
                    "the highest rate by this path to the node, lately; 0 if unknown"),
            counter(
                    "peers[].rails[].bytes",
                    "clairfs_peer_rail_received_bytes_total",
                    "bytes",
                    "of samples that came by this path"),
            counter(
                    "checksum_failures",
                    "clairfs_checksum_failures_total",
                    "samples",
                    "that failed their checksum in any tier"),
            counter("errors", "clairfs_errors_total", "lines", "of errors"),
            gauge("process.heap_bytes", "clairfs_process_heap_bytes", "bytes", "of the heap in use, garbage included"),
            counter(
                    "process.allocated_bytes",
                    "clairfs_process_allocated_bytes_total",
                    "bytes",
                    "allocated on the heap"),
            gauge("process.descriptors", "clairfs_process_open_fds", "descriptors", "open"),
            gauge("process.threads", "clairfs_process_threads", "threads", "of the JVM"),
            gauge("process.native_bytes", "clairfs_process_native_bytes", "bytes", "of samples outside the heap"),
            counter("process.cpu_seconds", "clairfs_process_cpu_seconds_total", "seconds", "of processor time"),
            counter("uptime_seconds", "clairfs_uptime_seconds_total", "seconds", "since the daemon began"));

    /** What is so or not, in the order of {@code status.json}: 1 or 0 in the Prometheus text format. */
    public static final List<Metric> FLAGS = List.of(
            flag("ready", "clairfs_ready", "the whole dataset is listed"),
            flag("jobs[].done", "clairfs_job_done", "all epochs are read"),
            flag("jobs[].in_sync", "clairfs_job_in_sync", "the trainer follows the order"),
            flag("jobs[].found", "clairfs_job_found", "its order was found, nobody wrote the job"),
            flag("jobs[].history[].over", "", "a later epoch has begun, or all are read"),
            flag("jobs[].history[].told", "", "trainers told how long they waited"),
            flag("tiers[].recovered", "clairfs_tier_recovered", "it is known what the tier holds"),
            flag("tiers[].writable", "clairfs_tier_writable", "the tier takes samples now"),
            flag("peers[].alive", "clairfs_peer_alive", "the node answers"),
            flag("peers[].rails[].connected", "clairfs_peer_rail_connected", "there is a connection by this path"),
            flag(
                    "peers[].rails[].left_alone",
                    "clairfs_peer_rail_left_alone",
                    "it failed, and is not used for a while"),
            flag("group.joined", "clairfs_group_joined", "this node is in its group"));

    /** The histograms of the Prometheus text format, by their key in {@code latency}. */
    public static final Map<String, Histogram> HISTOGRAMS = histograms();

    private Metrics() {}

    /**
     * The times that something took, as a histogram.
     *
     * @param name in the Prometheus text format
     * @param description of one time
     */
    public record Histogram(String name, String description) {}

    private static Map<String, Histogram> histograms() {
        Map<String, Histogram> all = new LinkedHashMap<>();
        all.put("read_wait", new Histogram("clairfs_read_wait_seconds", "a read request that waited for its sample"));
        all.put("source", new Histogram("clairfs_source_fetch_seconds", "a fetch of a sample from the source"));
        all.put("peer", new Histogram("clairfs_peer_fetch_seconds", "a fetch of a sample from another node"));
        all.put("push", new Histogram("clairfs_push_seconds", "putting a sample into the page cache"));
        return all;
    }

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
     * @param name in the Prometheus text format, with its own labels if it has some; empty if it is not there
     * @param unit what is counted, or the unit of measurement; 1 for a bare number
     * @param description continues "the number of UNIT ..."
     */
    public record Metric(String path, String name, Kind kind, String unit, Stability stability, String description) {}

    private static Metric counter(String path, String name, String unit, String description) {
        return new Metric(path, name, COUNTER, unit, Stability.STABLE, description);
    }

    private static Metric gauge(String path, String name, String unit, String description) {
        return new Metric(path, name, GAUGE, unit, Stability.STABLE, description);
    }

    private static Metric flag(String path, String name, String description) {
        return new Metric(path, name, GAUGE, "1", Stability.STABLE, description);
    }

    /** The table, as Markdown. */
    public static String markdown() {
        StringBuilder text = new StringBuilder(
                "| in `status.json` | in `metrics` | kind | unit | stability | what |\n|---|---|---|---|---|---|\n");
        for (Metric m : ALL) {
            text.append("| `%s` | %s | %s | %s | %s | %s |\n"
                    .formatted(m.path, code(m.name), word(m.kind), m.unit, word(m.stability), m.description));
        }
        return text.toString();
    }

    /** The table of what is so or not, as Markdown. */
    public static String markdownOfFlags() {
        StringBuilder text = new StringBuilder("| in `status.json` | in `metrics` | 1 if |\n|---|---|---|\n");
        for (Metric m : FLAGS) {
            text.append("| `%s` | %s | %s |\n".formatted(m.path, code(m.name), m.description));
        }
        return text.toString();
    }

    private static String code(String name) {
        return name.isEmpty() ? "" : "`" + name + "`";
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(java.util.Locale.ROOT);
    }
}
