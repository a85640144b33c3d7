package io.clairfs.fs.protocol;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Decides which pages of a directory bring attributes with the names.
 *
 * <p>A name with attributes costs the process that lists it about three microseconds, and the kernel a KB of memory. Without them a later
 * {@code stat} or open costs a request. So pages bring attributes while names are looked up behind a listing, and none while a process only
 * walks. The kernel's automatic mode brings them with the first page of each directory even for a walk. For {@code ls -l}, which lists a
 * directory before it looks at any entry, it brings them with no other page.
 *
 * <p>Thread-safe; a race costs time at most.
 */
final class AttributesAdvice {
    /** So many look-ups in the last listed directory are no accident. */
    private static final int LOOK_UPS = 3;

    /** For how many directories the look-ups count. Names with attributes are not looked up again, so one directory in so many comes without. */
    private static final int DIRECTORIES = 64;

    private final AtomicInteger credit = new AtomicInteger();
    private final AtomicInteger lookUps = new AtomicInteger();
    private volatile long lastListed;

    /** A name was looked up in {@code directory}. */
    void lookedUp(long directory) {
        if (directory == lastListed && lookUps.incrementAndGet() == LOOK_UPS) {
            credit.set(DIRECTORIES);
        }
    }

    /** Whether the page that begins at {@code offset} brings attributes. */
    boolean bringsAttributes(long directory, long offset) {
        if (offset > 0) {
            return credit.get() > 0;
        }
        lastListed = directory;
        lookUps.set(0);
        return credit.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }
}
