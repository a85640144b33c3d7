package io.clairfs.tools.node;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.placement.Filled;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.view.KeptForm;
import io.clairfs.fs.control.ControlMount;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.MountException;
import io.clairfs.tools.node.cluster.PeerGroup;
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
import io.clairfs.tools.node.job.LoaderReports;
import io.clairfs.tools.node.restart.AnnouncedRanks;
import io.clairfs.tools.node.restart.Restarts;
import io.clairfs.tools.node.restart.SavedMount;
import io.clairfs.tools.node.restart.Takeover;
import io.clairfs.tools.node.restart.UnmountedException;
import io.clairfs.tools.node.seed.SeedFinder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The jobs, and the control files by which users start them and see how they are. */
record ControlParts(Indexes indexes, JobTable jobs, Restarts restarts) {
    /** How long a write of job lines and an open of the index wait for the listing. */
    private static final long LISTING_PATIENCE_MS = 2_000;

    /** How long the jobs of a mount that goes on may wait for its disks. */
    private static final long DISKS_BEFORE_JOBS_MS = 60_000;

    /** Starts them. The control files answer last: whoever sees one sees a mount that is whole. */
    static ControlParts start(DaemonContext context, SampleParts samples, MountParts mount, MountedSessions sessions)
            throws IOException {
        MountConfig config = context.config();
        ErrorLog errors = context.errors();
        PeerGroup group = samples.group();
        Prefetcher prefetcher = mount.prefetcher();
        Indexes indexes =
                new Indexes(samples.tree(), rule(config.indexRule()), mount.watcher(), errors, LISTING_PATIENCE_MS);
        JobTable jobs =
                new JobTable(indexes, prefetcher, group == null ? null : group.jobs(), errors, System::nanoTime);
        SeedFinder seedFinder = context.started(
                new SeedFinder(config.findSeed(), config.mountPoint(), samples.tree(), indexes, jobs, errors));
        mount.requests().tell(seedFinder);
        FeederReports feeders = new FeederReports(System::nanoTime);
        LoaderReports loaders =
                new LoaderReports(config.model(), Runtime.getRuntime().availableProcessors());
        TrainerNotes notes = new TrainerNotes(context.clock());
        StatusReporter status = new StatusReporter(
                config,
                samples.tree(),
                indexes,
                prefetcher,
                loaders,
                feeders,
                seedFinder,
                notes,
                samples.tiers().admission(),
                group,
                context.counters(),
                errors,
                mount.session()::requests);
        if (config.metrics() != null) { // before the control files answer, which says that all is well
            serveMetrics(context, config.metrics(), status);
        }
        SavedMount place = new SavedMount(
                config.source(), config.mountPoint(), mount.controlPoint(), config.sizes(), KeptForm.UNDECIDED);
        Restarts restarts = context.started(new Restarts(mount.session(), place, jobs, config.restart(), errors));
        ControlMount control = new ControlMount(
                new ControlFiles(
                        new JobControl(indexes, jobs, prefetcher.looks(), errors),
                        new ReportControl(
                                jobs,
                                loaders,
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
                        new WhereFiles(
                                samples.tree(),
                                indexes,
                                prefetcher,
                                file -> group == null ? null : group.whereabouts(file),
                                errors),
                        () -> Filled.now(
                                samples.tree(),
                                samples.tiers().admission(),
                                samples.router().arriving(),
                                prefetcher.jobs())),
                context.clock());
        goOn(context, samples, jobs, restarts, sessions);
        seedFinder.begin(); // it looks at the jobs, so they go on first
        mountControl(context, mount, control, sessions);
        return new ControlParts(indexes, jobs, restarts);
    }

    private static IndexRule rule(String text) throws MountException {
        try {
            return IndexRule.of(text);
        } catch (DatasetException e) {
            throw new MountException(String.valueOf(e.getMessage()));
        }
    }

    /** The port of a process that has died may be free only when its last thread has ended. A mount that goes on is worth more than its metrics. */
    private static void serveMetrics(DaemonContext context, InetSocketAddress address, StatusReporter status)
            throws MountException {
        Takeover takeover = context.takeover();
        if (takeover == null) {
            context.started(MetricsServer.start(address, status));
            return;
        }
        Thread.ofPlatform()
                .daemon()
                .name("metrics-start")
                .start(() -> context.lateSteps()
                        .run(
                                "serving the metrics",
                                () -> takeover.runOnItsPorts(
                                        () -> context.started(MetricsServer.start(address, status)))));
    }

    /** Before there are control files, which would show no jobs. The disks first, or the jobs would have fetched anew what they hold. */
    private static void goOn(
            DaemonContext context, SampleParts samples, JobTable jobs, Restarts restarts, MountedSessions sessions) {
        Takeover takeover = context.takeover();
        if (takeover != null) {
            context.lateSteps()
                    .run(
                            "having this process started again if it dies",
                            () -> restarts.begin(samples.tree(), takeover, sessions::all));
            if (!samples.awaitDisks(DISKS_BEFORE_JOBS_MS)) {
                context.errors().add("the disks do not answer: the jobs go on without what they hold");
            }
            context.lateSteps()
                    .run(
                            "going on with the jobs",
                            () -> jobs.goOn(
                                    takeover.jobs(context.errors()::add),
                                    AnnouncedRanks.read(takeover.directory(), context.errors()::add)));
        }
    }

    /** A new mount without control files is none. One that goes on is worth more than they are: then they come later. */
    private static void mountControl(
            DaemonContext context, MountParts mount, ControlMount control, MountedSessions sessions)
            throws IOException {
        Takeover takeover = context.takeover();
        Path point = mount.controlPoint().path();
        List<String> options = options(context.config());
        if (takeover == null) {
            context.started(sessions.add(FuseSession.mount(point, options, control, mount.errnos())));
            return;
        }
        Takeover.ControlMounting mounting = () -> FuseSession.mountSupervised(point, options, control, mount.errnos());
        try {
            context.started(sessions.add(takeover.replaceControlFiles(mount.session(), mounting)));
        } catch (UnmountedException e) {
            throw e;
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            context.errors()
                    .add("the control files could not be mounted, and the dataset is served without: "
                            + e.getMessage());
            context.started(new LateControlFiles(
                    () -> takeover.replaceControlFilesOnce(mount.session(), mounting), sessions, context.errors()));
        }
    }

    private static List<String> options(MountConfig config) {
        List<String> options = new ArrayList<>(ControlMount.OPTIONS);
        options.add(MountParts.NAME
                + config.mountPoint().toString().replace("\\", "\\\\").replace(",", "\\,"));
        return options;
    }
}
