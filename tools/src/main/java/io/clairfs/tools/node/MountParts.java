package io.clairfs.tools.node;

import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.Counters;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import io.clairfs.fs.kernel.PageCache;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.protocol.ProtocolSession;
import io.clairfs.fs.read.ReadAccounting;
import io.clairfs.fs.read.ReadReports;
import io.clairfs.fs.read.ReadRequests;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.limits.DescriptorLimit;
import io.clairfs.tools.node.mount.ControlPoint;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;

/** The mount of the dataset: what answers the kernel, pushes into its page cache, and learns what was read. */
record MountParts(
        ErrnoTable errnos,
        ControlPoint controlPoint,
        ProtocolSession session,
        PageCache pages,
        Prefetcher prefetcher,
        ConsumptionWatcher watcher,
        ReadRequests requests) {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());

    /** The start of the option that sets the device in the mount table. */
    static final String NAME = "fsname=";

    /** An open file takes a KB or more of the kernel's memory, which the kernel cannot reclaim. */
    private static final long MOST_KEPT_OPEN = 32_768;

    /** The daemon's record of a staged sample takes about 150 bytes of its heap. */
    private static final long MOST_STAGED_SAMPLES = 1 << 20;

    /** How long readers of a mount that goes on may wait for its disks; some hundred thousand samples are found in that time. */
    private static final long DISKS_FIRST_MS = 500;

    /** Mounts, or goes on with the mount. */
    static MountParts start(DaemonContext context, SampleParts samples, MountedSessions sessions) throws IOException {
        MountConfig config = context.config();
        Takeover takeover = context.takeover();
        ReadAccounting accounting = new ReadAccounting(context.counters());
        ErrnoTable errnos = errnos(context);
        ReadRequests requests = new ReadRequests(samples.reader(), accounting);
        ControlPoint controlPoint = context.started(
                takeover == null
                        ? ControlPoint.of(config.mountPoint())
                        : takeover.mount().control());
        DatasetMount mount = new DatasetMount(samples.tree(), requests, controlPoint.link(), config.readTimeoutMs());
        if (!samples.awaitDisks(DISKS_FIRST_MS)) {
            LOG.log(Level.INFO, "readers are answered before it is known what the disks hold");
        }
        ProtocolSession session = context.started(sessions.add(
                takeover == null
                        ? ProtocolSession.mount(config.mountPoint(), options(config), mount, errnos)
                        : ProtocolSession.takeOver(
                                config.mountPoint(),
                                Takeover.DEVICE,
                                takeover.number(),
                                mount,
                                errnos,
                                takeover.predecessor())));
        if (takeover != null) {
            takeover.requireMounted(session);
        }
        PageCache pages = context.started(
                new PageCache(samples.tree(), config.mountPoint(), session.channel(), descriptorsForStaging()));
        Prefetcher prefetcher = context.started(new Prefetcher(
                samples.tree(),
                samples.router(),
                samples.tiers().admission(),
                samples.inUse(),
                samples.tiers().planner(samples.group()),
                pages,
                settings(config, samples.tiers()),
                context.counters(),
                context.errors()));
        samples.reader().stagedBy(prefetcher::isPartlyStaged);
        AutoCloseable mountEnds = pages::leavePages; // before the prefetcher lets go of what it has staged
        context.started(mountEnds);
        ConsumptionWatcher watcher = context.started(new ConsumptionWatcher(
                samples.tree(),
                config.mountPoint(),
                new ReadReports(accounting, samples.inUse(), prefetcher, requests),
                context.errors(),
                pages));
        requests.connect(watcher, prefetcher);
        return new MountParts(errnos, controlPoint, session, pages, prefetcher, watcher, requests);
    }

    private static ErrnoTable errnos(DaemonContext context) {
        Counters counters = context.counters();
        return new ErrnoTable((operation, path, reason) -> {
            if (operation.equals("read")) {
                counters.readErrors.increment();
            }
            context.errors().add(operation + " " + PythonText.show(path) + ": " + reason);
        });
    }

    private static List<String> options(MountConfig config) {
        List<String> options = new ArrayList<>(DatasetMount.OPTIONS);
        options.add(NAME + config.source());
        options.addAll(config.fuseOptions());
        return options;
    }

    /** Half of the descriptors that this process may have stay free for everything else. */
    private static int descriptorsForStaging() {
        return (int) Math.min(DescriptorLimit.ofThisProcess() / 2, MOST_KEPT_OPEN);
    }

    private static PrefetchSettings settings(MountConfig config, NodeTiers tiers) {
        return new PrefetchSettings(
                config.stagingBytes(),
                (int) Math.clamp(
                        config.stagingBytes() / Posix.PAGE_BYTES,
                        1,
                        MOST_STAGED_SAMPLES), // each takes at least one page
                config.loaders(),
                tiers.admission().residents().tiers().stream()
                        .map(_ -> config.loaders())
                        .toList(),
                config.sharing());
    }
}
