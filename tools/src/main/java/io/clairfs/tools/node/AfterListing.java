package io.clairfs.tools.node;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.tools.Version;
import io.clairfs.tools.node.cluster.PeerGroup;
import io.clairfs.tools.node.cluster.SampleServer;
import io.clairfs.tools.node.cluster.SparePool;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.LateSteps;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a daemon does when its dataset is listed. Its mount is used meanwhile, so no failure here ends it. */
record AfterListing(
        DaemonContext context, SampleParts samples, MountParts mount, ControlParts control, MountedSessions sessions) {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());
    private static final int MANY_ENTRIES = 1_000_000;

    /** The pause before a group is joined once more; it doubles with each failure. */
    private static final long FIRST_PAUSE_MS = 1_000;

    private static final long LONGEST_PAUSE_MS = 60_000;

    /** So many different reasons of failed joins are told; the status has the last one in any case. */
    private static final int MOST_REASONS = 20;

    /**
     * Waits for the listing, and does it.
     *
     * @param said called when the log says that the mount serves its dataset
     */
    void run(Runnable said) {
        MountConfig config = context.config();
        Takeover takeover = context.takeover();
        DatasetTree tree = samples.tree();
        Indexes indexes = control.indexes();
        tree.complete().join();
        KeptFormChoice.decide(tree, samples.tiers().admission().residents().tiers(), config.model());
        LateSteps steps = context.lateSteps();
        steps.run("watching the samples", () -> indexes.watch(indexes.of("")));
        if (tree.entryCount() >= MANY_ENTRIES) {
            steps.run("giving back the memory that listing took", System::gc);
        }
        if (takeover == null) {
            steps.run("starting the jobs that waited", control.jobs()::startWaiting);
            steps.run(
                    "finding what the disks hold",
                    () -> samples.tiers().recover(samples.saved().mayBeOld(tree)));
        }
        steps.run("planning", mount.prefetcher()::tiersChanged);
        LOG.log(
                Level.INFO,
                "clairfs " + Version.TEXT + ", process "
                        + ProcessHandle.current().pid() + ", serves " + config.source() + " at " + config.mountPoint()
                        + ": " + tree.fileCount() + " files");
        said.run();
        MountLog.watch(config.mountPoint());
        if (takeover == null) {
            steps.run(
                    "having this process started again if it dies",
                    () -> control.restarts().begin(tree, null, sessions::all));
        }
        steps.run("keeping the jobs", control.restarts()::keepJobsFromNowOn);
        PeerGroup group = samples.group();
        if (group != null) {
            steps.run("joining the group of nodes", () -> stayInGroup(group, takeover));
        }
    }

    /** Joins the group, and joins it again when this node has dropped out of it, until the mount ends. */
    private void stayInGroup(PeerGroup group, @Nullable Takeover takeover) throws Exception {
        joinAtLast(group, takeover);
        while (group.awaitLoss(mount.prefetcher()::tiersChanged)) {
            joinAtLast(group, null);
        }
    }

    /** Joins the group. While that fails, this node goes on alone and tries again, until it succeeds or the mount ends. */
    private void joinAtLast(PeerGroup group, @Nullable Takeover takeover) throws Exception {
        Takeover first = takeover;
        Set<String> told = new HashSet<>();
        long pauseMs = FIRST_PAUSE_MS;
        while (true) {
            try {
                if (first == null) {
                    join(group);
                } else {
                    first.runOnItsPorts(() -> join(group));
                }
                return;
            } catch (IOException | RuntimeException | Error e) {
                String reason = String.valueOf(e.getMessage());
                if (told.size() < MOST_REASONS && told.add(reason)) {
                    context.errors().add("did not join the group, samples come from the source: " + reason);
                    LOG.log(Level.WARNING, "joining the group of nodes, is tried again", e);
                }
            }
            first = null;
            if (group.awaitClose(pauseMs)) {
                return;
            }
            pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        }
    }

    private void join(PeerGroup group) throws IOException {
        Prefetcher prefetcher = mount.prefetcher();
        SparePool makers = SparePool.of(
                samples.tree(),
                context.config().model(),
                () -> prefetcher.jobs().stream().allMatch(job -> job.streams() == 0));
        SampleServer server =
                new SampleServer(samples.tiers().admission(), samples.router(), group::isHomeHere, makers);
        group.join(server, control.jobs()::follow, prefetcher::tiersChanged);
    }
}
