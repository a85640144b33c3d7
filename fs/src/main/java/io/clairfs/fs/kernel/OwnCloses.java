package io.clairfs.fs.kernel;

import io.clairfs.cache.posix.Posix;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The files that this process closes itself, so that their reports are not taken for reads. The kernel queues the report before the close returns, unless it
 * merges it with an equal one before it, the queue has overflowed, or the directory is not watched. So an entry is forgotten once the queue was emptied by a look
 * that began after the close: a later report of the file is a reader's.
 *
 * <p>While the queue is looked at every few milliseconds, a close waits for the end of the next look: right behind that of a reader it would be merged
 * with it, and the read would be lost. Thread-safe; nothing is closed under its lock.
 */
final class OwnCloses {
    private static final long LATEST_NS = TimeUnit.SECONDS.toNanos(2);
    private static final int MANY = 1 << 16;
    private static final long NOT_CLOSED_YET = Long.MAX_VALUE;

    /** No more descriptors than this stay open until the next look. */
    private static final int MOST_WAITING = 1024;

    private final LongSupplier clockNs;
    private final Map<Integer, Closing> closing = new HashMap<>();
    private final List<Waiting> waiting = new ArrayList<>();

    /** Whether the next look is soon. */
    private boolean looking;

    /** How many looks at the queue have begun. */
    private long looks;

    /**
     * The closes of a file that were not reported yet.
     *
     * @param count how many they are
     * @param sinceNs when the last of them began
     * @param look how many looks had begun when it returned
     */
    private record Closing(int count, long sinceNs, long look) {}

    /**
     * A file that is to be closed.
     *
     * @param look how many looks had begun
     */
    private record Waiting(int file, int descriptor, long look) {}

    /** {@code clockNs} is as {@link System#nanoTime}. */
    OwnCloses(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Closes a descriptor of {@code file}, now or at the end of the next look. */
    void close(int file, int descriptor) {
        synchronized (this) {
            if (looking && waiting.size() < MOST_WAITING) {
                waiting.add(new Waiting(file, descriptor, looks));
                return;
            }
        }
        closeNow(file, descriptor);
    }

    private void closeNow(int file, int descriptor) {
        closing(file);
        Posix.close(descriptor);
        closed(file);
    }

    /** Notes that this process closes {@code file} next. */
    synchronized void closing(int file) {
        long now = clockNs.getAsLong();
        if (closing.size() >= MANY) {
            closing.values().removeIf(each -> now - each.sinceNs > LATEST_NS);
        }
        closing.merge(
                file,
                new Closing(1, now, NOT_CLOSED_YET),
                (before, next) -> new Closing(before.count + 1, next.sinceNs, next.look));
    }

    /** The close has returned, so its report is in the queue, if there is one. */
    synchronized void closed(int file) {
        closing.computeIfPresent(file, (_, before) -> new Closing(before.count, before.sinceNs, looks));
    }

    /** A look at the queue begins. Returns its number. */
    synchronized long lookBegins() {
        looking = true;
        return ++looks;
    }

    /** The look of this number has taken all that was in the queue. */
    void emptied(long look) {
        List<Waiting> due;
        synchronized (this) {
            if (!closing.isEmpty()) {
                closing.values().removeIf(each -> each.look < look);
            }
            due = waiting.stream().filter(each -> each.look < look).toList();
            waiting.removeIf(each -> each.look < look);
        }
        due.forEach(each -> closeNow(each.file, each.descriptor));
    }

    /** No look follows soon: what waits for one is closed, and further ones at once. */
    void lookingEnds() {
        List<Waiting> due;
        synchronized (this) {
            looking = false;
            due = List.copyOf(waiting);
            waiting.clear();
        }
        due.forEach(each -> closeNow(each.file, each.descriptor));
    }

    /** Whether a close of {@code file} by this process was not reported yet. */
    synchronized boolean isAwaited(int file) {
        return closing.containsKey(file);
    }

    /** Takes a reported close of {@code file}. Returns whether it is this process's own. */
    synchronized boolean take(int file) {
        Closing taken = closing.isEmpty() ? null : closing.remove(file);
        if (taken != null && taken.count > 1) {
            closing.put(file, new Closing(taken.count - 1, taken.sinceNs, taken.look));
        }
        return taken != null; // however late: the process may have stood still
    }
}
