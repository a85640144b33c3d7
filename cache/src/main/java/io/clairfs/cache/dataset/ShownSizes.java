package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.View;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of what a view makes of the files of one directory: from an earlier listing for files that have not changed, else from their headers.
 *
 * <p>A file whose header the source does not give, or that changes whenever its header is read, gets the source's size, and cannot be read while
 * this listing lasts. One bad file so does not cost its directory. Used by many threads at once.
 */
final class ShownSizes {
    private static final int MOST_TRIES = 5;
    private static final long FIRST_PAUSE_MS = 50;

    private final Source source;
    private final View view;
    private final @Nullable Listing earlier;
    private final Consumer<String> warnings;
    private volatile boolean gaps;

    /** {@code earlier} is a listing of the directory that may be outdated. */
    ShownSizes(Source source, View view, @Nullable Listing earlier, Consumer<String> warnings) {
        this.source = source;
        this.view = view;
        this.earlier = earlier;
        this.warnings = warnings;
    }

    /** Whether the header of a file could not be read, so that what is listed is no listing for later mounts. */
    boolean hasGaps() {
        return gaps;
    }

    /** As {@link View#madeBytes}. */
    long madeBytes(byte[] path, FileStatus status) throws SourceException {
        if (view.isRaw()) {
            return Transform.AS_IT_IS;
        }
        SourceFile file = new SourceFile(path, status.size(), status.mtimeNs());
        int at = earlier == null ? -1 : find(earlier, file);
        if (at >= 0 && earlier != null) {
            return earlier.isMade(at) ? earlier.size(at) : Transform.AS_IT_IS;
        }
        for (int tries = 1; ; tries++) {
            try {
                return view.madeBytes(source, file);
            } catch (SourceFailedException e) {
                if (e.errno() == Errno.ENOENT) {
                    throw e;
                }
                if (e.errno() == Errno.EACCES || e.errno() == Errno.EPERM) {
                    gaps = true; // its mode may be changed before the next mount, of which its directory shows nothing
                    return file.size();
                }
                if (tries == MOST_TRIES || !pause(FIRST_PAUSE_MS << (tries - 1))) {
                    return unknown(status, e);
                }
            }
        }
    }

    /** The size of a file of which the header could not be read, with a warning. */
    long unknown(FileStatus status, SourceException why) {
        gaps = true;
        warnings.accept(
                "the size of a file is not known, and reads of it fail until it is mounted again: " + why.getMessage());
        return status.size();
    }

    /** The index of the same version of the file; -1 if there is none, or nothing could be made of it. */
    private static int find(Listing earlier, SourceFile file) {
        byte[] path = file.path();
        int from = path.length;
        while (from > 0 && path[from - 1] != '/') {
            from--;
        }
        int at = earlier.find(path, from, path.length);
        boolean same = at >= 0
                && earlier.kind(at) == Listing.Kind.FILE
                && earlier.sourceSize(at) == file.size()
                && earlier.mtimeNs(at) == file.mtimeNs();
        boolean unfit = same && earlier.isMade(at) && earlier.size(at) == earlier.sourceSize(at);
        return same && !unfit ? at : -1;
    }

    /** Returns false if the mount is being ended. */
    private static boolean pause(long ms) {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
