package io.clairfs.cache.fetch;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/**
 * Bounds how many fetches for readers keep their threads at once. A thread beyond the bound queues its fetch; threads that are done with
 * theirs run the queued ones, in order of arrival. Thread-safe.
 */
final class FetchSlots {
    private final Semaphore free;
    private final Queue<Runnable> left = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    /** At most {@code most} at once. */
    FetchSlots(int most) {
        free = new Semaphore(most);
    }

    /** Runs {@code fetch}, which does not throw, and then queued ones on the calling thread; or queues it. */
    void run(Runnable fetch) {
        left.add(fetch);
        while (!closed && !left.isEmpty() && free.tryAcquire()) {
            try {
                Runnable next = left.poll();
                if (next != null) {
                    next.run();
                }
            } finally {
                free.release(); // before the next look at the queue: a thread that found no slot had queued its fetch
            }
        }
    }

    /** Begins no fetch any more; drops the queued ones. */
    void close() {
        closed = true;
        left.clear();
    }
}
