package io.clairfs.cache.fetch;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/**
 * Lets a bounded number of fetches for readers keep their threads at once. Who comes beyond that leaves his fetch to those who are done with theirs, in the
 * order in which they came. Thread-safe.
 */
final class FetchSlots {
    private final Semaphore free;
    private final Queue<Runnable> left = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    /** At most {@code most} at once. */
    FetchSlots(int most) {
        free = new Semaphore(most);
    }

    /** Runs {@code fetch}, which does not throw, on the calling thread, and what others have left meanwhile; or leaves it to others. */
    void run(Runnable fetch) {
        left.add(fetch);
        while (!closed && !left.isEmpty() && free.tryAcquire()) {
            try {
                Runnable next = left.poll();
                if (next != null) {
                    next.run();
                }
            } finally {
                free.release(); // before the look whether something is left: who found no slot has left it before
            }
        }
    }

    /** Begins none any more. */
    void close() {
        closed = true;
        left.clear();
    }
}
