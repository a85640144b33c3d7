package io.clairfs.tools.node;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.ChangeNotice;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.AsListedTier;
import io.clairfs.cache.view.KeptForm;
import io.clairfs.cache.view.View;
import io.clairfs.peer.Secret;
import io.clairfs.tools.node.cluster.PeerGroup;
import io.clairfs.tools.node.config.GroupConfig;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.job.LateSteps;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What brings samples from the source, the tiers and the peers to readers.
 *
 * @param disksFound completes when a daemon that goes on knows what its disks hold; a new one finds out when the dataset is listed
 * @param saved the kept listing
 * @param group null for a node alone
 */
record SampleParts(
        DatasetTree tree,
        NodeTiers tiers,
        CompletableFuture<@Nullable Void> disksFound,
        SavedIndex saved,
        SamplesInUse inUse,
        @Nullable PeerGroup group,
        FetchRouter router,
        SampleReader reader) {

    /** Starts them; the listing of the dataset goes on meanwhile. */
    static SampleParts start(DaemonContext context) throws IOException {
        MountConfig config = context.config();
        ErrorLog errors = context.errors();
        View view = view(context);
        SavedIndex saved =
                new SavedIndex(config.indexCache(), config.source(), view, context.takeover() == null, errors::add);
        Source listed = new DirectorySource(config.source());
        Source source = context.started(new ChangeNotice(listed, saved::fileChanged));
        // A file that changes while its header is read for the listing outdates nothing: it is examined again.
        DatasetTree tree = context.started(tree(context, listed, view, saved));
        if (context.takeover() == null) {
            saved.saveWhenComplete(tree);
        }
        AsListedTier.Comparison comparison = file -> isAsListed(tree.entry(file).file(), source, saved);
        NodeTiers tiers = context.started(NodeTiers.open(config, tree, comparison, context.takeover() != null, errors));
        CompletableFuture<@Nullable Void> disksFound = context.takeover() == null
                ? CompletableFuture.completedFuture(null)
                : findDisksAgain(context, tree, tiers, saved);
        SamplesInUse inUse = context.started(new SamplesInUse(config.areas().readersBytes()));
        PeerGroup group = group(context, tree, tiers.admission());
        FetchRouter router = new FetchRouter(
                new FetchPlaces(tree, source, tiers.admission(), inUse, group == null ? PeerFetch.NONE : group),
                new FetchLimits(
                        TimeUnit.MILLISECONDS.toNanos(config.readTimeoutMs()),
                        config.areas().fromSourceBytes()),
                tiers.rates(),
                context.counters(),
                System::nanoTime);
        SampleReader reader = context.started(
                new SampleReader(tree, source, router, inUse, context.counters(), errors, config.readTimeoutMs()));
        return new SampleParts(tree, tiers, disksFound, saved, inUse, group, router, reader);
    }

    /** Waits until it is known what the disks hold, if this daemon goes on with a mount; so many milliseconds at most. Returns whether it is known. */
    boolean awaitDisks(long mostMs) {
        try {
            disksFound.get(mostMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        } catch (ExecutionException e) {
            throw new AssertionError("steps catch what fails", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static View view(DaemonContext context) {
        MountConfig config = context.config();
        Takeover takeover = context.takeover();
        KeptForm before =
                takeover == null ? KeptForm.UNDECIDED : takeover.mount().kept();
        return config.view().open().keeping(KeptFormChoice.atMount(config.viewCache(), config.group() != null, before));
    }

    private static boolean isAsListed(Source.SourceFile listed, Source source, SavedIndex saved)
            throws SourceException {
        FileStatus now = source.status(listed.path());
        boolean same = now.isRegular() && now.size() == listed.size() && now.mtimeNs() == listed.mtimeNs();
        if (!same) {
            saved.fileChanged();
        }
        return same;
    }

    private static DatasetTree tree(DaemonContext context, Source source, View view, SavedIndex saved)
            throws IOException {
        Takeover takeover = context.takeover();
        int listers = context.config().listers();
        if (takeover != null) {
            return takeover.tree(source, view, listers, context.errors()::add);
        }
        return new DatasetTree(source, view, saved.listings(), listers, context.errors()::add);
    }

    /**
     * Finds what the disks hold, while the rest of a daemon that takes over starts. Readers are answered afterwards, unless that takes long: else
     * they would read from the source what is there.
     */
    private static CompletableFuture<@Nullable Void> findDisksAgain(
            DaemonContext context, DatasetTree tree, NodeTiers tiers, SavedIndex saved) {
        KeptFormChoice.decide(
                tree, tiers.admission().residents().tiers(), context.config().model());
        LateSteps steps = context.lateSteps();
        return CompletableFuture.runAsync(
                () -> steps.run("finding what the disks hold", () -> tiers.recover(saved.mayBeOld(tree))),
                task -> Thread.ofPlatform().daemon().name("disk-finder").start(task));
    }

    private static @Nullable PeerGroup group(DaemonContext context, DatasetTree tree, Admission admission)
            throws IOException {
        MountConfig config = context.config();
        GroupConfig group = config.group();
        if (group == null) {
            return null;
        }
        if (group.secretFile() != null) {
            Secret.warning(group.secretFile()).ifPresent(context.errors()::add);
        }
        return context.started(new PeerGroup(
                group,
                config.model(),
                tree,
                admission,
                context.errors(),
                config.areas().fromPeersBytes(),
                config.readTimeoutMs() / 2));
    }
}
