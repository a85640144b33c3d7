package io.clairfs.tools.node.config;

import io.clairfs.cache.dataset.SavedListings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The place where listings of large sources are kept between mounts.
 *
 * @param directory need not exist
 * @param use how far the listings are trusted
 */
public record IndexCache(Path directory, SavedListings.Use use) {
    /** The value in place of a directory that keeps no listing. */
    public static final String NONE = "none";

    /**
     * The index cache that a mount's options name.
     *
     * @param directory a directory, {@link #NONE}, or null for the user's own: {@code $XDG_CACHE_HOME/clairfs} or {@code ~/.cache/clairfs}
     * @param trusted whether listings are used without a check of their directories
     */
    public static IndexCache of(@Nullable String directory, boolean trusted) {
        SavedListings.Use use = trusted ? SavedListings.Use.TRUSTED : SavedListings.Use.VERIFIED;
        if (directory != null && !directory.equals(NONE)) {
            return new IndexCache(Path.of(directory).toAbsolutePath(), use);
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        String home = System.getenv("HOME");
        boolean isKept = directory == null && (isAbsolute(cache) || isAbsolute(home));
        return new IndexCache(
                isAbsolute(cache) ? Path.of(cache, "clairfs") : Path.of(home == null ? "/" : home, ".cache", "clairfs"),
                isKept ? use : SavedListings.Use.NONE);
    }

    private static boolean isAbsolute(@Nullable String path) {
        return path != null && path.startsWith("/");
    }
}
