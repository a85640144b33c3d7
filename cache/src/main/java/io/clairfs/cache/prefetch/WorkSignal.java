package io.clairfs.cache.prefetch;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Wakes threads that found nothing to do when there may be something.
 *
 * <p>Some work comes without news, such as an order that is written late. So one of the waiting threads at a time, the scout, looks again
 * after a moment. It waits longer the longer nothing happens, half a second at most. So a node without work is quiet, with any number of
 * threads. A scout that finds work wakes the others.
 */
final class WorkSignal {
    private static final long FIRST_WAIT_MS = 20;
    private static final long LONGEST_WAIT_MS = 500;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();

    /** Counts the news of work; changed under the lock. */
    private final AtomicLong news = new AtomicLong();

    /** How long the next scout waits; guarded by the lock. */
    private long waitMs = FIRST_WAIT_MS;

    /** Whether a thread waits as the scout; guarded by the lock. */
    private boolean hasScout;

    /** The news so far: read before looking for work, then passed to {@link #await}. */
    long seen() {
        return news.get();
    }

    /**
     * Waits for the first news after {@code seen}; as the scout, for a moment. Returns whether the caller was the scout without news, and
     * should {@link #wake} the others if it finds work.
     */
    boolean await(long seen) throws InterruptedException {
        lock.lock();
        try {
            while (news.get() == seen) {
                if (hasScout) {
                    work.await();
                } else if (!scout(seen)) {
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for news or for a moment. Returns whether there was news. */
    private boolean scout(long seen) throws InterruptedException {
        hasScout = true;
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(waitMs);
            while (news.get() == seen && left > 0) {
                left = work.awaitNanos(left);
            }
        } finally {
            hasScout = false;
            work.signal(); // another takes over, for work that this one finds may keep it
        }
        if (news.get() == seen) {
            waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
            return false;
        }
        return true;
    }

    /** There may be work for everybody. */
    void wake() {
        wake(Integer.MAX_VALUE);
    }

    /** There may be work for so many threads; busy ones look again by themselves. */
    void wake(int threads) {
        lock.lock();
        try {
            news.incrementAndGet();
            waitMs = FIRST_WAIT_MS;
            for (int i = 0; i < threads && lock.hasWaiters(work); i++) {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }
}
