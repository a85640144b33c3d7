package io.clairfs.tools.node.control;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.follow.EpochTime;
import io.clairfs.cache.follow.JobProgress;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.follow.JobTimes;
import io.clairfs.cache.follow.RankBalance;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.Exchange;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.status.Latency;
import io.clairfs.cache.status.NodeTraffic;
import io.clairfs.cache.status.Traffic;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.TierFailures;
import io.clairfs.cache.view.View;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import io.clairfs.tools.Version;
import io.clairfs.tools.node.cluster.PeerGroup;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.job.FeederReports;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.LoaderReports;
import io.clairfs.tools.node.seed.SeedFinder;
import io.clairfs.tools.node.seed.SeedStatus;
import io.clairfs.tools.node.status.PrometheusText;
import io.clairfs.tools.node.status.Status;
import io.clairfs.tools.node.status.StatusText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Collects the status of a mount. */
public final class StatusReporter {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();
    private static final double NANOS_PER_SECOND = 1e9;

    private final MountConfig config;
    private final DatasetTree tree;
    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final LoaderReports reports;
    private final FeederReports feeders;
    private final SeedFinder seedFinder;
    private final TrainerNotes notes;
    private final Admission admission;
    private final @Nullable PeerGroup group;
    private final Counters counters;
    private final ErrorLog errors;
    private final ToLongFunction<Operation> kernelRequests;
    private final long startedNs = System.nanoTime();

    public StatusReporter(
            MountConfig config,
            DatasetTree tree,
            Indexes indexes,
            Prefetcher prefetcher,
            LoaderReports reports,
            FeederReports feeders,
            SeedFinder seedFinder,
            TrainerNotes notes,
            Admission admission,
            @Nullable PeerGroup group,
            Counters counters,
            ErrorLog errors,
            ToLongFunction<Operation> kernelRequests) {
        this.config = config;
        this.tree = tree;
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.reports = reports;
        this.feeders = feeders;
        this.seedFinder = seedFinder;
        this.notes = notes;
        this.admission = admission;
        this.group = group;
        this.counters = counters;
        this.errors = errors;
        this.kernelRequests = kernelRequests;
    }

    /** The status as JSON, for programs. */
    String json() {
        return JSON.writeValueAsString(status()) + "\n";
    }

    /** The status in the Prometheus text format, for monitoring. */
    byte[] metrics() {
        Map<String, Latency.Buckets> times = new LinkedHashMap<>();
        latencies().forEach((key, seen) -> times.put(key, seen.buckets()));
        return PrometheusText.of(JSON.valueToTree(status()), times);
    }

    /** The status as text, for people. */
    String text() {
        return StatusText.of(status());
    }

    private Status status() {
        long samples = tree.fileCount();
        boolean ready = indexes.isListed(); // first: the last failure does not outlive the listing
        String indexError = ready ? null : indexes.failures();
        if (ready) {
            try {
                samples = indexes.ofLately("").size();
            } catch (DatasetException | TimeoutException e) {
                indexError = e.getMessage();
            }
        }
        List<Status.Tier> tiers = tiers();
        List<Status.Job> jobs = new ArrayList<>();
        for (JobRun run : prefetcher.jobs()) {
            jobs.add(job(run));
        }
        return new Status(
                Version.TEXT,
                ProcessHandle.current().pid(),
                config.mountPoint().toString(),
                config.source().toString(),
                samples,
                tree.fileBytes(),
                ready,
                view(),
                indexError,
                jobs,
                findSeed(),
                notes.notes(),
                reads(),
                fetched(),
                counters.peersPassedOver.sum(),
                counters.ssdPassedOver.sum(),
                kernel(),
                counters.stalledNs.sum() / NANOS_PER_SECOND,
                latency(),
                new Status.Staging(
                        prefetcher.stagingCapacityBytes(),
                        prefetcher.stagedBytes(),
                        prefetcher.stagedSamples(),
                        counters.staged.sum(),
                        counters.stagedLost.sum(),
                        config.loaders()),
                memory(),
                tiers,
                group == null ? List.of() : group.peers(),
                group == null ? null : group.report(),
                tiers.stream().mapToLong(Status.Tier::checksumFailures).sum(),
                errors.total(),
                Status.Resources.now(),
                (System.nanoTime() - startedNs) / NANOS_PER_SECOND);
    }

    private Status.View view() {
        View view = tree.view();
        return new Status.View(
                view.isRaw() ? "raw" : view.identity(),
                view.isRaw() ? "raw" : view.kept().name().toLowerCase(Locale.ROOT),
                view.headersRead(),
                view.made(),
                counters.madeForPeers.sum(),
                counters.madeElsewhere.sum(),
                counters.makersFailed.sum());
    }

    private Status.Memory memory() {
        Map<String, Long> areas = config.areas()
                .with(config.memoryBytes(), config.stagingBytes())
                .areas(config.ssds().size(), config.group() != null);
        return new Status.Memory(
                areas.values().stream().mapToLong(bytes -> bytes).sum(), areas);
    }

    private Status.Reads reads() {
        long upcalls = counters.openedWithUpcall.sum();
        long closedAfterUpcall = counters.closedAfterUpcall.sum(); // first: it never exceeds the next
        long opened = counters.opened.sum();
        return new Status.Reads(
                opened,
                Math.max(0, opened - closedAfterUpcall),
                upcalls,
                counters.readRequests.sum(),
                counters.readRequestBytes.sum(),
                counters.readErrors.sum(),
                counters.eventsLost.sum(),
                indexes.unwatched());
    }

    private Status.Kernel kernel() {
        return new Status.Kernel(
                kernelRequests.applyAsLong(Operation.GETATTR),
                kernelRequests.applyAsLong(Operation.READDIR),
                kernelRequests.applyAsLong(Operation.READLINK),
                kernelRequests.applyAsLong(Operation.READ),
                kernelRequests.applyAsLong(Operation.IOCTL));
    }

    private Map<String, Status.Fetched> fetched() {
        Map<String, Status.Fetched> fetched = new LinkedHashMap<>();
        fetched.put("memory", fetched(counters.fromMemory));
        fetched.put("ssd", fetched(counters.fromSsd));
        fetched.put("peer", fetched(counters.fromPeer));
        fetched.put("source", fetched(counters.fromSource));
        return fetched;
    }

    private Map<String, Status.Latency> latency() {
        Map<String, Status.Latency> latency = new LinkedHashMap<>();
        latencies().forEach((key, seen) -> latency.put(key, latency(seen)));
        return latency;
    }

    private Map<String, Latency> latencies() {
        Map<String, Latency> all = new LinkedHashMap<>();
        all.put("read_wait", counters.readWait);
        all.put("source", counters.fromSourceTook);
        all.put("peer", counters.fromPeerTook);
        all.put("push", counters.pushTook);
        return all;
    }

    private static Status.Latency latency(Latency seen) {
        Latency.Summary now = seen.summary();
        return new Status.Latency(now.count(), now.p50(), now.p90(), now.p99(), now.p999(), now.max());
    }

    private static Status.Fetched fetched(Traffic traffic) {
        return new Status.Fetched(traffic.count(), traffic.bytes());
    }

    private List<Status.Tier> tiers() {
        List<Status.Tier> all = new ArrayList<>();
        for (Tier tier : admission.residents().tiers()) {
            TierFailures failures = tier.failures();
            all.add(new Status.Tier(
                    tier.name(),
                    tier.capacityBytes(),
                    tier.usedBytes(),
                    tier.samples(),
                    tier.isRecovered(),
                    tier.isWritable(),
                    failures.checksums(),
                    failures.reads(),
                    failures.writes()));
        }
        return all;
    }

    private Status.Job job(JobRun run) {
        JobSpec spec = run.spec();
        RankBalance balance = run.balance();
        LoaderReports.Loading loading = reports.of(spec, tree.fileBytes() / Math.max(1, tree.fileCount()));
        JobProgress progress;
        try {
            progress = run.progress();
        } catch (InvalidSpecException e) {
            throw new AssertionError("the epoch under way has been computed before", e);
        }
        JobTimes times = prefetcher.timesOf(run);
        List<Status.Epoch> history = history(times, progress.done());
        return new Status.Job(
                spec.name(),
                spec.seed(),
                spec.sampler(),
                spec.epochs() == JobSpec.UNLIMITED ? null : spec.epochs(),
                spec.world(),
                spec.ranks().text(),
                spec.subset(),
                run.index().size(),
                progress.epoch(),
                progress.position(),
                progress.length(),
                progress.done(),
                progress.inSync(),
                progress.deviations(),
                progress.stagedAhead(),
                spec.window(),
                ranks(run),
                note(spec, progress),
                seedFinder.isFound(spec),
                balance.steps(),
                balance.imbalanced(),
                loading == null
                        ? null
                        : new Status.Loading(loading.workers(), loading.readSeconds(), loading.transformSeconds()),
                loading == null ? null : loading.advice(),
                exchange(run),
                feeders.of(spec),
                spec.batch(),
                times.readerWaitSeconds(),
                times.sampleSeconds() == 0 ? null : times.sampleSeconds(),
                history.isEmpty() ? null : history.getLast().utilisation(),
                history);
    }

    private static List<Status.Epoch> history(JobTimes times, boolean done) {
        List<Status.Epoch> history = new ArrayList<>();
        int last = times.epochs().isEmpty() ? -1 : times.epochs().getLast().epoch();
        for (EpochTime each : times.epochs()) {
            NodeTraffic traffic = each.traffic();
            Map<String, Status.Fetched> fetched = new LinkedHashMap<>();
            fetched.put("memory", fetched(traffic.memory()));
            fetched.put("ssd", fetched(traffic.ssd()));
            fetched.put("peer", fetched(traffic.peer()));
            fetched.put("source", fetched(traffic.source()));
            history.add(new Status.Epoch(
                    each.epoch(),
                    done || each.epoch() < last,
                    each.seconds(),
                    each.samples(),
                    each.readerWaitSeconds(),
                    each.waitedSeconds(),
                    each.waitedAtLeastSeconds(),
                    each.isTold(),
                    each.utilisation(),
                    traffic.opened(),
                    Math.max(0, traffic.opened() - traffic.asked()),
                    fetched));
        }
        return history;
    }

    private static Status.Fetched fetched(NodeTraffic.Amount amount) {
        return new Status.Fetched(amount.count(), amount.bytes());
    }

    private Status.@Nullable Exchange exchange(JobRun run) {
        Exchange exchange = admission.plan().exchange();
        if (exchange == null || exchange.job() != run) {
            return null;
        }
        Exchange.Progress now = exchange.progress(admission.residents(), tree::keptSize);
        return new Status.Exchange(
                now.epoch(),
                now.receives(),
                now.received(),
                now.receivedBytes(),
                now.sends(),
                now.sent(),
                now.behind());
    }

    private Status.FindSeed findSeed() {
        SeedStatus seed = seedFinder.status();
        return new Status.FindSeed(
                seed.state().name().toLowerCase(Locale.ROOT),
                seed.reads(),
                seed.candidates(),
                seed.found(),
                seed.line(),
                seed.note());
    }

    private List<Status.Rank> ranks(JobRun run) {
        List<Status.Rank> ranks = new ArrayList<>();
        int[] loaders = prefetcher.loadersOf(run);
        for (int stream = 0; stream < run.streams(); stream++) {
            ranks.add(new Status.Rank(
                    run.spec().firstRank() + stream,
                    loaders[stream],
                    run.stream(stream).stagedAhead(),
                    run.stream(stream).secondsStaged()));
        }
        return ranks;
    }

    private static @Nullable String note(JobSpec spec, JobProgress progress) {
        JobProgress.Astray astray = progress.astray();
        if (astray != null && astray.epoch() < astray.expected()) {
            return "the trainer reads epoch " + astray.epoch()
                    + " again instead of the next one: is set_epoch() called at the start of every epoch?";
        }
        if (astray != null) {
            return "the trainer reads the order of epoch " + astray.epoch() + ", not " + astray.expected()
                    + ": if it was resumed, give start_epoch=" + astray.epoch() + "; else its seed is another one";
        }
        if (progress.inNameOrder()) {
            return "samples are read in name order, not in that of this job: by another reader, or by a trainer that does not shuffle";
        }
        if (!progress.inSync()) {
            return "reads do not follow the order of this job: check seed, sampler, world and batch against the trainer";
        }
        if (!spec.hasRanksOfOneNode()) {
            return "ranks=" + spec.ranks().text() + " are not the ranks of one node with per_node="
                    + spec.keys().getOrDefault("per_node", "1") + ": give the number of ranks that every node has";
        }
        return null;
    }
}
