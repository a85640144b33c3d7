package io.clairfs.tools.node.restart;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What mounts left of which every process was killed at once, as a batch system does it: nobody was there to remove it, and a later mount is elsewhere,
 * for such mounts often have a job's number in their names.
 *
 * <p>A daemon holds a {@link RestartLock}. While it is dead and its supervisor has not started the next one yet, the supervisor's record is young.
 */
final class AbandonedRestarts {
    private static final Duration YOUNG = Duration.ofDays(1);

    private AbandonedRestarts() {}

    /** Removes the directories below {@code state} with such an end of their names that nobody uses. What cannot be removed stays. */
    static void remove(Path state, String nameEnd) {
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(state, each -> each.toString().endsWith(nameEnd))) {
            for (Path each : all) {
                removeIfAbandoned(each);
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            return;
        }
    }

    private static void removeIfAbandoned(Path directory) {
        try {
            // Without a lock it may be that of a daemon of an older version, which takes none.
            List<Path> files = files(directory);
            if (files.contains(directory.resolve(RestartLock.FILE)) && !isYoung(directory, files)) {
                removeIfUnused(directory);
            }
        } catch (IOException | DirectoryIteratorException goneMeanwhile) {
            return;
        }
    }

    /** Removes a directory, if it is there, unless a process has its lock. Where a file system has no locks, or the user may not, it stays. */
    static void removeIfUnused(Path directory) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try {
            try (RestartLock lock = RestartLock.take(directory)) {
                if (lock == null) {
                    return;
                }
                for (Path each : files(directory)) {
                    Files.deleteIfExists(each);
                }
            }
            Files.deleteIfExists(directory); // NFS keeps the lock's file, under another name, while it is open
        } catch (IOException | DirectoryIteratorException cannot) {
            return;
        }
    }

    private static List<Path> files(Path directory) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
            all.forEach(files::add);
        }
        return files;
    }

    private static boolean isYoung(Path directory, List<Path> files) throws IOException {
        Instant limit = Instant.now().minus(YOUNG);
        boolean young = Files.getLastModifiedTime(directory).toInstant().isAfter(limit);
        for (Path each : files) {
            young |= Files.getLastModifiedTime(each).toInstant().isAfter(limit);
        }
        return young;
    }
}
