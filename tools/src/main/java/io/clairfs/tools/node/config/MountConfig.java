package io.clairfs.tools.node.config;

import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.node.limits.MemoryBudget;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a mount can be told.
 *
 * @param source the directory that holds the dataset, absolute
 * @param mountPoint the mount point, absolute
 * @param memoryBytes what the memory tier may hold
 * @param areas the sizes of the areas of memory that nobody says
 * @param ssds local disks to keep samples on, fastest first
 * @param ssdReserveBytes what their filesystems must keep free for others
 * @param stagingBytes what may be in the page cache ahead of the trainers
 * @param indexCache where the listing of a large source is kept for the next mount
 * @param indexRule how samples are numbered: a name of {@code IndexRule.BY_NAME}
 * @param policy by which the tiers are filled: of the planner
 * @param model what was measured on this machine, if anything
 * @param loaders how many samples may be fetched at once for staging, and for each tier
 * @param sharing how loaders are shared out to the ranks
 * @param group the nodes to share caches with; null for none
 * @param listers how many calls the listing may make at once
 * @param readTimeoutMs how long a reader may wait
 * @param fuseOptions more options for the data mount, as after {@code -o}
 */
public record MountConfig(
        Path source,
        Path mountPoint,
        long memoryBytes,
        MemoryBudget areas,
        List<SsdConfig> ssds,
        long ssdReserveBytes,
        long stagingBytes,
        IndexCache indexCache,
        String indexRule,
        PlacementPolicy policy,
        ModelFile model,
        int loaders,
        PrefetchSettings.Sharing sharing,
        @Nullable GroupConfig group,
        int listers,
        long readTimeoutMs,
        List<String> fuseOptions) {
    public MountConfig {
        ssds = List.copyOf(ssds);
        fuseOptions = List.copyOf(fuseOptions);
    }
}
