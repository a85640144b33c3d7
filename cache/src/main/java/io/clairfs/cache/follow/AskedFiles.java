package io.clairfs.cache.follow;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.IntPredicate;

/**
 * Requests of readers that were not heeded yet; when it is full, further ones are dropped.
 *
 * <p>Locks: a reader adds its request without that of the {@link JobRun}, and never waits. The job heeds them under it.
 */
final class AskedFiles {
    private static final int MOST_ASKED = 64;

    private final ArrayBlockingQueue<Asked> asked = new ArrayBlockingQueue<>(MOST_ASKED);

    private record Asked(int file, IntPredicate isInMemory) {}

    /** As {@link JobRun#asked}. */
    void add(int file, IntPredicate isInMemory) {
        boolean _ = asked.offer(new Asked(file, isInMemory));
    }

    /** Passes all of them on, in order. */
    void heed(TrainerFollower follower) {
        for (Asked next = asked.poll(); next != null; next = asked.poll()) {
            follower.asked(next.file, next.isInMemory);
        }
    }
}
