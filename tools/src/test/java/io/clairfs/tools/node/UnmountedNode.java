package io.clairfs.tools.node;

import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import io.clairfs.tools.node.job.Indexes;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * What jobs run on in a node without a mount: real files, a real index, and a real prefetcher with one loader that stages into memory. No reads
 * are reported.
 */
public final class UnmountedNode {
    public final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    public final SmallDataset dataset;
    public final Prefetcher prefetcher;
    public final Indexes indexes;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    private static final class NoReader implements ConsumptionWatcher.Reader {
        @Override
        public void read(int[] files, int count) {}

        @Override
        public void reportsLost() {}
    }

    /** A node over so many files that are made in {@code directory}. */
    public UnmountedNode(Path directory, int samples) throws Exception {
        this(directory, samples, new FileLooks());
    }

    /** The same, with looks at order files that {@code looks} bounds. */
    public UnmountedNode(Path directory, int samples, FileLooks looks) throws Exception {
        this(directory, samples, looks, IndexRule.of("sorted"));
    }

    /** The same, with this rule for its index. */
    public UnmountedNode(Path directory, int samples, FileLooks looks, IndexRule rule) throws Exception {
        dataset = closing(new SmallDataset(directory, samples, 100, 1));
        MemoryTier memory = closing(new MemoryTier(1 << 20));
        Admission admission = closing(new Admission(dataset.tree, memory, List.of(), 1 << 20));
        SamplesInUse inUse = closing(new SamplesInUse());
        FetchRouter router = new FetchRouter(
                new FetchPlaces(dataset.tree, dataset.source, admission, inUse, PeerFetch.NONE),
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                new Counters(),
                System::nanoTime);
        prefetcher = closing(new Prefetcher(
                dataset.tree,
                router,
                admission,
                inUse,
                _ -> LocalPlan.WHILE_ROOM,
                new RecordingArea(),
                new PrefetchSettings(1 << 20, 1000, 1, List.of(1), PrefetchSettings.Sharing.FIXED),
                new Counters(),
                errors,
                looks));
        ConsumptionWatcher watcher = closing(new ConsumptionWatcher(dataset.tree, directory, new NoReader(), errors));
        indexes = new Indexes(dataset.tree, rule, watcher, errors, 1000);
    }

    /** A part that is closed with the node, before what was there already. */
    public <T extends AutoCloseable> T closing(T part) {
        parts.push(part);
        return part;
    }

    /** Closes all parts, the last first. */
    public void close() throws Exception {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }
}
