package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.FileStatus;
import org.jspecify.annotations.Nullable;

/** What a symbolic link leads to. */
public enum LinkTarget {
    DIRECTORY,
    /** A regular file. */
    FILE,
    /** A device, socket or pipe. */
    OTHER,
    /** It is broken, or leads to where this process may not look. */
    NOTHING;

    static LinkTarget of(@Nullable FileStatus status) {
        if (status == null) {
            return NOTHING;
        }
        return status.isDirectory() ? DIRECTORY : status.isRegular() ? FILE : OTHER;
    }
}
