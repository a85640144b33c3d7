package io.clairfs.cache.fetch;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many fetches for readers keep their threads at once. A thread beyond the bound queues its fetch; threads that are done with
 * theirs run the queued ones, in order of arrival. A fetch that has taken longer than any reader would wait is lost: another takes its slot, for a part of
 * the source that answers nothing must not keep out those who read the rest. Lost ones are bounded as well. Thread-safe; its lock is never held while a fetch runs.
 */
final class FetchSlots {
    private final int most;
    private final int mostLost;
    private final long lostNs;
    private final LongSupplier clockNs;
    private final Queue<Runnable> left = new ConcurrentLinkedQueue<>();

    /** Those that run, the oldest first, without the lost. */
    private final Set<Slot> busy = new LinkedHashSet<>();

    private int lost;
    private volatile boolean closed;

    /**
     * At most {@code most} at once, and {@code mostLost} that were lost.
     *
     * @param lostNs after so long a fetch is lost
     * @param clockNs as {@link System#nanoTime}
     */
    FetchSlots(int most, int mostLost, long lostNs, LongSupplier clockNs) {
        this.most = most;
        this.mostLost = mostLost;
        this.lostNs = lostNs;
        this.clockNs = clockNs;
    }

    /** The right of one fetch to keep its thread. */
    private static final class Slot {
        private final long sinceNs;

        Slot(long nowNs) {
            sinceNs = nowNs;
        }
    }

    private synchronized @Nullable Slot take() {
        long now = clockNs.getAsLong();
        if (busy.size() >= most && !loseOldest(now)) {
            return null;
        }
        Slot slot = new Slot(now);
        busy.add(slot);
        return slot;
    }

    private boolean loseOldest(long now) {
        Iterator<Slot> oldest = busy.iterator();
        if (lost >= mostLost || now - oldest.next().sinceNs <= lostNs) {
            return false;
        }
        oldest.remove();
        lost++;
        return true;
    }

    private synchronized void giveBack(Slot slot) {
        if (!busy.remove(slot)) {
            lost--;
        }
    }

    /** Runs {@code fetch}, which does not throw, and then queued ones on the calling thread; or queues it. */
    void run(Runnable fetch) {
        left.add(fetch);
        while (!closed && !left.isEmpty()) {
            Slot slot = take();
            if (slot == null) {
                return;
            }
            try {
                Runnable next = left.poll();
                if (next != null) {
                    next.run();
                }
            } finally {
                giveBack(slot); // before the next look at the queue: a thread that found no slot had queued its fetch
            }
        }
    }

    /** Begins no fetch any more; drops the queued ones. */
    void close() {
        closed = true;
        left.clear();
    }
}
