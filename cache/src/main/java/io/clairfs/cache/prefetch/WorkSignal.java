package io.clairfs.cache.prefetch;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes threads that found nothing to do when there may be something; none sleeps longer than a moment. */
final class WorkSignal {
    private static final long IDLE_WAIT_MS = 100;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();

    /** Counts what may have given somebody something to do; changed under the lock. */
    private final AtomicLong news = new AtomicLong();

    /** To be asked for before looking for work, and given to {@link #await}. */
    long seen() {
        return news.get();
    }

    /** Returns at the first news after {@code seen}, or after a moment. */
    void await(long seen) throws InterruptedException {
        long left = TimeUnit.MILLISECONDS.toNanos(IDLE_WAIT_MS);
        lock.lock();
        try {
            while (news.get() == seen && left > 0) {
                left = work.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** There may be work for everybody. */
    void wake() {
        wake(Integer.MAX_VALUE);
    }

    /** There may be work for so many threads; those that are at work will look again by themselves. */
    void wake(int threads) {
        lock.lock();
        try {
            news.incrementAndGet();
            for (int i = 0; i < threads && lock.hasWaiters(work); i++) {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }
}
