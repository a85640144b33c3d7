package io.clairfs.tools.daemon;

import java.nio.file.Path;
import java.util.List;

/**
 * Everything that a mount can be told.
 *
 * @param source the directory that holds the dataset, absolute
 * @param mountPoint where it is to be seen, absolute
 * @param memoryBytes what the memory tier may hold
 * @param stagingBytes what may be in the page cache ahead of the trainers
 * @param indexRule how samples are numbered: a name of {@code IndexRule.BY_NAME}
 * @param loaders how many samples may be fetched at once
 * @param listers how many calls the listing may make at once
 * @param readTimeoutMs how long a reader may wait
 * @param fuseOptions more options for the data mount, as after {@code -o}
 */
public record MountConfig(
        Path source,
        Path mountPoint,
        long memoryBytes,
        long stagingBytes,
        String indexRule,
        int loaders,
        int listers,
        long readTimeoutMs,
        List<String> fuseOptions) {
    public MountConfig {
        fuseOptions = List.copyOf(fuseOptions);
    }
}
