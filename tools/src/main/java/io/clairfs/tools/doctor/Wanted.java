package io.clairfs.tools.doctor;

import io.clairfs.tools.node.config.SsdConfig;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of a mount as far as checks look at them; null and empty for what is not given.
 *
 * @param source the dataset, absolute
 * @param mountPoint absolute
 * @param memoryBytes of {@code --memory}
 * @param ssdReserveBytes what stays free on the disks of {@code ssds}
 * @param bind the text of {@code --bind}
 * @param members the texts of {@code --members}
 * @param rails the texts of {@code --rail}
 * @param metrics the text of {@code --metrics}
 * @param mountOptions those of {@code -o}
 */
public record Wanted(
        @Nullable Path source,
        @Nullable Path mountPoint,
        @Nullable Long memoryBytes,
        List<SsdConfig> ssds,
        long ssdReserveBytes,
        @Nullable String bind,
        List<String> members,
        @Nullable Path secretFile,
        List<String> rails,
        @Nullable String metrics,
        List<String> mountOptions) {
    public Wanted {
        ssds = List.copyOf(ssds);
        members = List.copyOf(members);
        rails = List.copyOf(rails);
        mountOptions = List.copyOf(mountOptions);
    }
}
