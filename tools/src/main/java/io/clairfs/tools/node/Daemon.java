package io.clairfs.tools.node;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.Filled;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.source.ChangeNotice;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.view.View;
import io.clairfs.fs.control.ControlMount;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import io.clairfs.fs.kernel.PageCache;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.MountChanges;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountedSession;
import io.clairfs.fs.protocol.ProtocolSession;
import io.clairfs.fs.read.ReadAccounting;
import io.clairfs.fs.read.ReadReports;
import io.clairfs.fs.read.ReadRequests;
import io.clairfs.peer.Secret;
import io.clairfs.tools.OpenParts;
import io.clairfs.tools.Version;
import io.clairfs.tools.node.cluster.PeerGroup;
import io.clairfs.tools.node.cluster.SampleServer;
import io.clairfs.tools.node.cluster.SparePool;
import io.clairfs.tools.node.config.GroupConfig;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.control.ControlFiles;
import io.clairfs.tools.node.control.JobControl;
import io.clairfs.tools.node.control.MetricsServer;
import io.clairfs.tools.node.control.OrderFiles;
import io.clairfs.tools.node.control.ReportControl;
import io.clairfs.tools.node.control.StatusReporter;
import io.clairfs.tools.node.control.TrainerNotes;
import io.clairfs.tools.node.control.UpgradeControl;
import io.clairfs.tools.node.control.WhereFiles;
import io.clairfs.tools.node.job.FeederReports;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.JobTable;
import io.clairfs.tools.node.job.LateSteps;
import io.clairfs.tools.node.job.LoaderReports;
import io.clairfs.tools.node.limits.DescriptorLimit;
import io.clairfs.tools.node.mount.ControlPoint;
import io.clairfs.tools.node.mount.MountCheck;
import io.clairfs.tools.node.restart.Restarts;
import io.clairfs.tools.node.restart.SavedMount;
import io.clairfs.tools.node.restart.Takeover;
import io.clairfs.tools.node.seed.SeedFinder;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One mount and everything behind it, wired together.
 *
 * <p>Life cycle: {@code clairfs mount} starts and closes it. {@link #start} returns when the mount and its control files answer; the listing
 * goes on meanwhile. {@link #close} first releases the readers that wait, because a push may wait for one of them. Then it closes the parts in
 * the reverse order of their start; each has its bound.
 *
 * <p>Locks: only {@link #close} holds its lock, so that a second caller waits for the first. No lock is held when it is taken. Those of the
 * parts are taken inside, and no part calls this class.
 */
public final class Daemon implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());
    private static final int MANY_ENTRIES = 1_000_000;

    /** The start of the option that sets the device in the mount table. */
    private static final String NAME = "fsname=";

    /** The longest wait for a reported change; it only serves to notice the end of this daemon, or a change that the kernel did not report. */
    private static final int MOUNTED_CHECK_MS = 10_000;

    /** The pause between two checks, for machines with frequent mounts and unmounts. */
    private static final long MOUNTED_CHECK_PAUSE_MS = 50;

    /** An open file takes a KB or more of the kernel's memory, which the kernel cannot reclaim. */
    private static final long MOST_KEPT_OPEN = 32_768;

    /** A staged sample takes at least one page. */
    private static final int PAGE_BYTES = 4096;

    /** The daemon's record of a staged sample takes about 150 bytes of its heap. */
    private static final long MOST_STAGED_SAMPLES = 1 << 20;

    /** How long a write of job lines and an open of the index wait for the listing. */
    private static final long LISTING_PATIENCE_MS = 2_000;

    /** How long readers of a mount that goes on may wait for its disks; some hundred thousand samples are found in that time. */
    private static final long DISKS_FIRST_MS = 500;

    private final MountConfig config;
    private final OpenParts parts = new OpenParts("the mount");
    private final List<MountedSession> sessions = new CopyOnWriteArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final DatasetTree tree;

    /** Whether the log says that the mount serves its dataset, so that it has to say when that ends. */
    private volatile boolean isListed;

    /**
     * Mounts, or goes on with a mount. If a part fails to start, the parts that were started before it are closed; a mount that exists
     * already stays, and this process has to end.
     *
     * @param takeover the mount to go on with; null for a new one
     */
    public static Daemon start(MountConfig config, @Nullable Takeover takeover) throws IOException {
        if (takeover == null) {
            MountCheck.check(config.source(), config.mountPoint());
        }
        return new Daemon(config, takeover);
    }

    private Daemon(MountConfig config, @Nullable Takeover takeover) throws IOException {
        this.config = config;
        try {
            Clock clock = Clock.systemUTC();
            ErrorLog errors = new ErrorLog(clock, message -> LOG.log(Level.WARNING, message));
            Counters counters = new Counters();
            View view =
                    config.view().open().keeping(KeptFormChoice.atMount(config.viewCache(), config.group() != null));
            SavedIndex saved = new SavedIndex(config.indexCache(), config.source(), view, errors::add);
            Source source = started(new ChangeNotice(new DirectorySource(config.source()), saved::fileChanged));
            tree = started(
                    takeover == null
                            ? new DatasetTree(source, view, saved.listings(), config.listers(), errors::add)
                            : takeover.tree(source, view, config.listers(), errors::add));
            if (takeover == null) {
                saved.saveWhenComplete(tree);
            }
            NodeTiers tiers = started(NodeTiers.open(config, tree, takeover != null, errors));
            Admission admission = tiers.admission();
            CompletableFuture<@Nullable Void> disksFound =
                    takeover == null ? CompletableFuture.completedFuture(null) : findDisksAgain(tiers, errors);
            SamplesInUse inUse = started(new SamplesInUse(config.areas().readersBytes()));
            GroupConfig groupConfig = config.group();
            if (groupConfig != null && groupConfig.secretFile() != null) {
                Secret.warning(groupConfig.secretFile()).ifPresent(errors::add);
            }
            PeerGroup group = groupConfig == null
                    ? null
                    : started(new PeerGroup(
                            groupConfig,
                            config.model(),
                            tree,
                            admission,
                            errors,
                            config.areas().fromPeersBytes(),
                            config.readTimeoutMs() / 2));
            FetchRouter router = new FetchRouter(
                    new FetchPlaces(tree, source, admission, inUse, group == null ? PeerFetch.NONE : group),
                    new FetchLimits(
                            TimeUnit.MILLISECONDS.toNanos(config.readTimeoutMs()),
                            config.areas().fromSourceBytes()),
                    tiers.rates(),
                    counters,
                    System::nanoTime);
            SampleReader reader =
                    started(new SampleReader(tree, source, router, inUse, counters, errors, config.readTimeoutMs()));
            ReadAccounting accounting = new ReadAccounting(counters);
            ErrnoTable errnos = new ErrnoTable((operation, path, reason) -> {
                if (operation.equals("read")) {
                    counters.readErrors.increment();
                }
                errors.add(operation + " " + PythonText.show(path) + ": " + reason);
            });

            ReadRequests requests = new ReadRequests(reader, accounting);
            ControlPoint controlPoint = started(
                    takeover == null
                            ? ControlPoint.of(config.mountPoint())
                            : takeover.mount().control());
            DatasetMount mount = new DatasetMount(tree, requests, controlPoint.link(), config.readTimeoutMs());
            awaitFor(disksFound, DISKS_FIRST_MS);
            ProtocolSession data = session(
                    takeover == null
                            ? ProtocolSession.mount(config.mountPoint(), dataOptions(), mount, errnos)
                            : ProtocolSession.takeOver(
                                    config.mountPoint(), Takeover.DEVICE, mount, errnos, takeover.predecessor()));
            if (takeover != null) {
                if (!MountCheck.isOurs(config.mountPoint())) {
                    throw new MountException(config.mountPoint() + " was unmounted meanwhile");
                }
            }
            PageCache pages =
                    started(new PageCache(tree, config.mountPoint(), data.channel(), descriptorsForStaging()));
            PrefetchSettings settings = new PrefetchSettings(
                    config.stagingBytes(),
                    (int) Math.clamp(config.stagingBytes() / PAGE_BYTES, 1, MOST_STAGED_SAMPLES),
                    config.loaders(),
                    admission.residents().tiers().stream()
                            .map(_ -> config.loaders())
                            .toList(),
                    config.sharing());
            Prefetcher prefetcher = started(new Prefetcher(
                    tree, router, admission, inUse, tiers.planner(group), pages, settings, counters, errors));
            ConsumptionWatcher watcher = started(new ConsumptionWatcher(
                    tree,
                    config.mountPoint(),
                    new ReadReports(accounting, inUse, prefetcher, requests),
                    errors,
                    pages));
            requests.connect(watcher, prefetcher);

            Indexes indexes = new Indexes(tree, rule(config.indexRule()), watcher, errors, LISTING_PATIENCE_MS);
            JobTable jobs = new JobTable(indexes, prefetcher, group == null ? null : group.jobs(), errors);
            SeedFinder seedFinder =
                    started(new SeedFinder(config.findSeed(), config.mountPoint(), tree, indexes, jobs, errors));
            requests.tell(seedFinder);
            FeederReports feeders = new FeederReports(System::nanoTime);
            LoaderReports reports =
                    new LoaderReports(config.model(), Runtime.getRuntime().availableProcessors());
            TrainerNotes notes = new TrainerNotes(clock);
            StatusReporter status = new StatusReporter(
                    config,
                    tree,
                    indexes,
                    prefetcher,
                    reports,
                    feeders,
                    seedFinder,
                    notes,
                    admission,
                    group,
                    counters,
                    errors,
                    data::requests);
            if (config.metrics() != null) { // before the control files answer, which says that all is well
                serveMetrics(config.metrics(), status, takeover, errors);
            }
            SavedMount place = new SavedMount(config.source(), config.mountPoint(), controlPoint);
            Restarts restarts = started(new Restarts(data, place, jobs, config.restart(), errors));
            ControlMount control = new ControlMount(
                    new ControlFiles(
                            new JobControl(indexes, jobs, errors),
                            new ReportControl(
                                    jobs,
                                    reports,
                                    feeders,
                                    (job, rank, waited, took) ->
                                            prefetcher.job(job.name()).ifPresent(run -> run.told(rank, waited, took)),
                                    errors),
                            notes,
                            new UpgradeControl(restarts, errors),
                            status,
                            errors,
                            indexes,
                            new OrderFiles(jobs, prefetcher, errors),
                            new WhereFiles(tree, indexes, prefetcher),
                            () -> Filled.now(tree, admission, prefetcher.jobs())),
                    clock);
            if (takeover != null) {
                goOn(takeover, disksFound, jobs, errors);
            }
            FuseSession controls = session(
                    takeover == null
                            ? FuseSession.mount(controlPoint.path(), controlOptions(), control, errnos)
                            : takeover.replaceControlFiles(() -> FuseSession.mountSupervised(
                                    controlPoint.path(), controlOptions(), control, errnos)));
            parts.add(restarts); // added again, so that the supervisor knows first that the mount ends
            parts.add(reader); // added again, so that it is closed first
            endWith(data);
            endWith(controls);
            Thread.ofPlatform().daemon().name("detach-watcher").start(() -> endWhenDetached(pages));
            Thread.ofPlatform()
                    .daemon()
                    .name("indexer")
                    .start(() -> index(indexes, jobs, tiers, group, router, prefetcher, restarts, takeover, errors));
        } catch (IOException | RuntimeException | Error e) {
            if (takeover == null) { // else the mount stays, for the process that the supervisor starts next
                close();
            }
            throw e;
        }
    }

    /** The port of a process that has died may be free only when its last thread has ended. A mount that goes on is worth more than its metrics. */
    private void serveMetrics(
            InetSocketAddress address, StatusReporter status, @Nullable Takeover takeover, ErrorLog errors)
            throws MountException {
        if (takeover == null) {
            started(MetricsServer.start(address, status));
            return;
        }
        new LateSteps(errors).run("serving the metrics", () -> {
            takeover.awaitPredecessorsEnd();
            started(MetricsServer.start(address, status));
        });
    }

    /**
     * Finds what the disks hold, while the rest of a daemon that takes over starts. Readers are answered afterwards, unless that takes long: else
     * they would read from the source what is there.
     */
    private CompletableFuture<@Nullable Void> findDisksAgain(NodeTiers tiers, ErrorLog errors) {
        KeptFormChoice.decide(tree, tiers.admission().residents().tiers(), config.model());
        LateSteps steps = new LateSteps(errors);
        return CompletableFuture.runAsync(
                () -> steps.run("finding what the disks hold", tiers::recover),
                task -> Thread.ofPlatform().daemon().name("disk-finder").start(task));
    }

    private static void awaitFor(CompletableFuture<@Nullable Void> step, long mostMs) {
        try {
            step.get(mostMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            LOG.log(Level.INFO, "readers are answered before it is known what the disks hold");
        } catch (ExecutionException e) {
            throw new AssertionError("steps catch what fails", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Before there are control files, which would show no jobs. The disks first, or the jobs would have fetched anew what they hold. */
    private static void goOn(
            Takeover takeover, CompletableFuture<@Nullable Void> disksFound, JobTable jobs, ErrorLog errors) {
        disksFound.join();
        new LateSteps(errors)
                .run("going on with the jobs", () -> takeover.jobs(errors::add).forEach(jobs::goOn));
    }

    private <T extends AutoCloseable> T started(T part) {
        return parts.add(part);
    }

    private <S extends MountedSession> S session(S mounted) {
        sessions.add(mounted);
        return started(mounted);
    }

    /** The mount is over when it is detached from the tree, even while this or another process has files of it open. */
    private void endWhenDetached(PageCache pages) {
        try (MountChanges changes = new MountChanges()) {
            while (!closed.get() && pages.isMounted()) {
                changes.await(MOUNTED_CHECK_MS);
                TimeUnit.MILLISECONDS.sleep(MOUNTED_CHECK_PAUSE_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            LOG.log(Level.WARNING, "a mount that is detached will not be noticed", e);
            return;
        }
        ended.complete(null);
    }

    /** The mount is over when either of its sessions is. */
    private void endWith(MountedSession session) {
        var _ = session.ended().thenRun(() -> ended.complete(null));
    }

    private static IndexRule rule(String text) throws MountException {
        try {
            return IndexRule.of(text);
        } catch (DatasetException e) {
            throw new MountException(String.valueOf(e.getMessage()));
        }
    }

    private void index(
            Indexes indexes,
            JobTable jobs,
            NodeTiers tiers,
            @Nullable PeerGroup group,
            FetchRouter router,
            Prefetcher prefetcher,
            Restarts restarts,
            @Nullable Takeover takeover,
            ErrorLog errors) {
        tree.complete().join();
        KeptFormChoice.decide(tree, tiers.admission().residents().tiers(), config.model());
        LateSteps steps = new LateSteps(errors);
        steps.run("watching the samples", () -> indexes.watch(indexes.of("")));
        if (tree.entryCount() >= MANY_ENTRIES) {
            steps.run("giving back the memory that listing took", System::gc);
        }
        if (takeover == null) {
            steps.run("starting the jobs that waited", jobs::startWaiting);
            steps.run("finding what the disks hold", tiers::recover);
        }
        steps.run("planning", prefetcher::tiersChanged);
        LOG.log(
                Level.INFO,
                "clairfs " + Version.TEXT + ", process "
                        + ProcessHandle.current().pid() + ", serves " + config.source() + " at " + config.mountPoint()
                        + ": " + tree.fileCount() + " files");
        isListed = true;
        MountLog.watch(config.mountPoint());
        steps.run("having this process started again if it dies", () -> restarts.begin(tree, takeover, sessions));
        if (group != null) {
            if (takeover != null) {
                steps.run("waiting for the end of the process before this one", takeover::awaitPredecessorsEnd);
            }
            SparePool makers = SparePool.of(
                    tree, config.model(), () -> prefetcher.jobs().stream().allMatch(job -> job.streams() == 0));
            SampleServer server = new SampleServer(tiers.admission(), router, group::isHomeHere, makers);
            steps.run("joining the group of nodes", () -> join(group, server, jobs, prefetcher, errors));
        }
    }

    private static void join(
            PeerGroup group, SampleServer server, JobTable jobs, Prefetcher prefetcher, ErrorLog errors) {
        try {
            group.join(server, jobs::follow, prefetcher::tiersChanged);
        } catch (IOException | RuntimeException e) {
            errors.add("did not join the group, samples come from the source: " + e.getMessage());
            LOG.log(Level.WARNING, "joining the group of nodes", e);
        }
    }

    private List<String> dataOptions() {
        List<String> options = new ArrayList<>(DatasetMount.OPTIONS);
        options.add(NAME + config.source());
        options.addAll(config.fuseOptions());
        return options;
    }

    private List<String> controlOptions() {
        List<String> options = new ArrayList<>(ControlMount.OPTIONS);
        options.add(NAME + config.mountPoint().toString().replace("\\", "\\\\").replace(",", "\\,"));
        return options;
    }

    /** Half of the descriptors that this process may have stay free for everything else. */
    private static int descriptorsForStaging() {
        return (int) Math.min(DescriptorLimit.ofThisProcess() / 2, MOST_KEPT_OPEN);
    }

    public MountConfig config() {
        return config;
    }

    /** Completes when the mount is gone, for any reason. */
    public CompletableFuture<Void> ended() {
        return ended;
    }

    /** Gives up the connections to the kernel, so that no reader waits for this process, which is about to end. */
    public void cut() {
        sessions.forEach(MountedSession::cut);
    }

    /** A second caller waits for the first. */
    @Override
    public synchronized void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (isListed) {
            LOG.log(Level.INFO, config.mountPoint() + " ends");
        }
        parts.close();
        cut();
        ended.complete(null);
    }
}
