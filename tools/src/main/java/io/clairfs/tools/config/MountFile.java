package io.clairfs.tools.config;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@code clairfs mount} in a file, by their names on the command line; null if the file does not set them. The command line takes
 * precedence.
 */
public record MountFile(
        @Nullable String view,
        @Nullable String viewCache,
        @Nullable String memory,
        @Nullable String staging,
        @Nullable List<String> ssd,
        @Nullable String ssdReserve,
        @Nullable String indexCache,
        @Nullable Boolean trustIndex,
        @Nullable String indexRule,
        @Nullable String policy,
        @Nullable String loaderSharing,
        @Nullable Integer loaders,
        @Nullable String findSeed,
        @Nullable Integer readTimeout,
        @Nullable Integer restarts,
        @Nullable String metrics,
        @Nullable String logFormat,
        @Nullable String bind,
        @Nullable List<String> members,
        @Nullable List<String> rail,
        @Nullable String secretFile,
        @Nullable String nodeName,
        @Nullable String tlsCertificate,
        @Nullable String tlsKey,
        @Nullable String tlsAuthority) {
    public MountFile {
        if (ssd != null && ssd.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("an SSD without a directory");
        }
        if (members != null && members.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("a member without a name");
        }
        if (rail != null && rail.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("a rail without an address");
        }
    }

    /** A file that sets nothing. */
    public static final MountFile EMPTY = new MountFile(
            null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
            null, null, null, null, null, null, null);
}
