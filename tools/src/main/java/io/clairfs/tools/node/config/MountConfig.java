package io.clairfs.tools.node.config;

import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.gpufeeder.view.ViewSpec;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.node.limits.MemoryBudget;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All options of a mount.
 *
 * @param source the directory that holds the dataset, absolute
 * @param mountPoint the mount point, absolute
 * @param view what is shown of the files
 * @param viewCache what tiers hold of files of which the view makes samples
 * @param memoryBytes the capacity of the memory tier
 * @param areas the sizes of the areas of memory that have no option
 * @param ssds local disks for samples, fastest first
 * @param ssdReserveBytes what stays free for others on their filesystems
 * @param stagingBytes the budget of the page cache ahead of the trainers
 * @param indexCache where the listing of a large source is kept for the next mount
 * @param indexRule how samples are numbered: a name of {@code IndexRule.BY_NAME}
 * @param policy the planner's policy for the tiers
 * @param model this machine's measurements, if there are any
 * @param loaders how many samples may be fetched at once for staging, and for each tier
 * @param sharing how loaders are divided among the ranks
 * @param findSeed whether to search for the order of a trainer that no job describes
 * @param group the nodes to share caches with; null for none
 * @param metrics the address to serve metrics on; null for none
 * @param listers the number of calls that the listing may make at once
 * @param readTimeoutMs how long a reader may wait
 * @param fuseOptions more options for the data mount, as after {@code -o}
 * @param restart how the process is started again if it dies
 */
public record MountConfig(
        Path source,
        Path mountPoint,
        ViewSpec view,
        ViewCache viewCache,
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
        boolean findSeed,
        @Nullable GroupConfig group,
        @Nullable InetSocketAddress metrics,
        int listers,
        long readTimeoutMs,
        List<String> fuseOptions,
        RestartConfig restart) {
    public MountConfig {
        ssds = List.copyOf(ssds);
        fuseOptions = List.copyOf(fuseOptions);
    }

    /** What this mount takes of the machine's memory. */
    public MountSizes sizes() {
        return new MountSizes(memoryBytes, stagingBytes, areas);
    }
}
