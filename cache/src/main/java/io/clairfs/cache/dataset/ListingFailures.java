package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.source.SourceUnfitException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The directories that could not be listed, and when each is retried.
 *
 * <p>A refusal is final. A directory that is gone or replaced is retried a few times, because its parent lists it; then it is given up, and the
 * tree is complete without it. It is not listed later: the numbers of a complete tree are in use by then, and kept for a process that goes on with
 * the mount. Any other failure is transient and is retried for as long as the tree lives, after a pause that grows to half a minute.
 */
final class ListingFailures {
    private static final long FIRST_PAUSE_MS = 250;
    private static final long LONGEST_PAUSE_MS = 30_000;
    private static final int MOST_TRIES_IF_GONE = 5;
    private static final String REMEDY = "not tried again: unmount, and mount again";

    private final ConcurrentHashMap<Directory, Failure> failures = new ConcurrentHashMap<>();

    /**
     * Why the last try to list a directory failed.
     *
     * @param tries in all
     * @param goneTries the last ones, in which the directory was gone or replaced
     * @param isFinal whether it is not retried
     */
    private record Failure(SourceException reason, int tries, int goneTries, boolean isFinal) {
        /** How long to wait before the next try. */
        long pauseMs() {
            return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS << Math.min(tries - 1, 16));
        }
    }

    /** Records a failed try. Returns the pause before the next try in milliseconds, or -1 for none. */
    long failed(Directory directory, SourceException reason) {
        Failure before = failures.get(directory);
        int tries = before == null ? 1 : before.tries + 1;
        int goneTries = !isGone(reason) ? 0 : before == null ? 1 : before.goneTries + 1;
        boolean isFinal = isRefusal(reason) || goneTries >= MOST_TRIES_IF_GONE;
        Failure now = new Failure(reason, tries, goneTries, isFinal);
        failures.put(directory, now);
        return now.isFinal ? -1 : now.pauseMs();
    }

    private static boolean isRefusal(SourceException reason) {
        return reason instanceof SourceFailedException e && (e.errno() == Errno.EACCES || e.errno() == Errno.EPERM);
    }

    private static boolean isGone(SourceException reason) {
        return switch (reason) {
            case SourceFailedException e -> e.errno() == Errno.ENOENT;
            case SourceChangedException _ -> true;
            case SourceTimeoutException _, SourceUnfitException _ -> false;
        };
    }

    /** Whether the directory has failed exactly once. */
    boolean isFirst(Directory directory) {
        Failure failure = failures.get(directory);
        return failure != null && failure.tries == 1;
    }

    /** Whether the directory was gone or replaced so often that it is not retried. */
    boolean isGivenUp(Directory directory) {
        Failure failure = failures.get(directory);
        return failure != null && failure.goneTries >= MOST_TRIES_IF_GONE;
    }

    /** What callers for a directory get that was given up: the reason with the remedy, which a changed directory has already. */
    static SourceException givenUp(Directory directory, SourceException reason) {
        return reason instanceof SourceFailedException failed
                ? new SourceFailedException(shown(directory) + " (" + REMEDY + ")", failed.errno())
                : reason;
    }

    /** The line about it. */
    static String givenUpLine(Directory directory, SourceException reason) {
        return line(directory, reason) + "; it is " + REMEDY;
    }

    /** Records that the directory was listed. Returns whether it had failed before. */
    boolean mended(Directory directory) {
        return failures.remove(directory) != null;
    }

    /** One line about the directories that could not be listed, or null when there are none. */
    @Nullable
    String describe() {
        int count = 0;
        boolean triedAgain = false;
        String one = "";
        for (var entry : failures.entrySet()) {
            count++;
            triedAgain |= !entry.getValue().isFinal;
            one = line(entry.getKey(), entry.getValue().reason);
        }
        return count == 0
                ? null
                : one
                        + (count == 1 ? "" : ", and " + (count - 1) + " others")
                        + (triedAgain ? "; it is tried again" : "");
    }

    /** What could not be listed, and why. */
    static String line(Directory directory, SourceException reason) {
        String path = shown(directory);
        String why = String.valueOf(reason.getMessage());
        return "cannot list directory " + (why.startsWith(path + ": ") ? why : path + " (" + why + ")");
    }

    private static String shown(Directory directory) {
        return directory.path().length == 0 ? "." : PythonText.show(directory.path());
    }
}
