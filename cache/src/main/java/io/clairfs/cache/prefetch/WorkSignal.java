package io.clairfs.cache.prefetch;

import io.clairfs.cache.worker.Activity;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Wakes threads that found nothing to do when there may be something.
 *
 * <p>Some work comes without news, such as an order that is written late. So one of the waiting threads at a time, the scout, looks again
 * after a moment. It waits longer the longer nothing comes, half a second at most; on a node where nothing at all happens, four seconds, or
 * until something does. So a node without work is quiet, with any number of threads. A scout that finds work wakes the others.
 */
final class WorkSignal {
    private static final long FIRST_WAIT_MS = 20;
    private static final long LONGEST_WAIT_MS = 500;
    private static final long REST_MS = 4_000;

    private final Activity activity;
    private final BooleanSupplier mayRest;
    private final long restMs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();

    /** Only the scout waits here. */
    private final Condition turn = lock.newCondition();

    private final Runnable stir = this::stir;

    /** Counts the news of work; changed under the lock. */
    private final AtomicLong news = new AtomicLong();

    /** How long the next scout waits; guarded by the lock. */
    private long waitMs = FIRST_WAIT_MS;

    /** Whether a thread waits as the scout; guarded by the lock. */
    private boolean hasScout;

    /** Whether something happened that ends the rest of the scout; guarded by the lock. */
    private boolean stirred;

    /** Whether the scout waits for more than half a second; guarded by the lock. */
    private boolean rests;

    /** What had happened on the node when the last two scouts went to look; guarded by the lock. */
    private long happened = -1;

    private long happenedBefore = -2;

    /**
     * Nobody waits yet.
     *
     * @param activity what happens on the node
     * @param mayRest whether no work is to be expected that comes without news, though nothing happens
     */
    WorkSignal(Activity activity, BooleanSupplier mayRest) {
        this(activity, mayRest, REST_MS);
    }

    WorkSignal(Activity activity, BooleanSupplier mayRest, long restMs) {
        this.activity = activity;
        this.mayRest = mayRest;
        this.restMs = restMs;
    }

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
        stirred = false;
        try {
            rests = mayRest() && activity.begin(happened, stir);
            long left = TimeUnit.MILLISECONDS.toNanos(rests ? restMs : waitMs);
            while (news.get() == seen && !stirred && left > 0) {
                left = turn.awaitNanos(left);
            }
        } finally {
            hasScout = false;
            work.signal(); // another takes over, for work that this one finds may keep it
            if (rests) {
                rests = false;
                activity.end(stir);
            }
        }
        if (news.get() != seen) {
            return true;
        }
        happenedBefore = happened;
        happened = activity.seen();
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
        return false;
    }

    /** Whether nothing has happened since the scout before the last one went to look, and nothing is expected. Lets go of the lock meanwhile. */
    private boolean mayRest() {
        if (waitMs < LONGEST_WAIT_MS || happened != happenedBefore) {
            return false;
        }
        lock.unlock(); // who is asked may have locks of its own
        try {
            return mayRest.getAsBoolean();
        } finally {
            lock.lock();
        }
    }

    /** Ends the rest of the scout. */
    private void stir() {
        lock.lock();
        try {
            stirred = true;
            turn.signal();
        } finally {
            lock.unlock();
        }
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
            int left = threads;
            for (; left > 0 && lock.hasWaiters(work); left--) {
                work.signal();
            }
            if (left > 0 || rests) {
                stirred = true;
                turn.signal();
            }
        } finally {
            lock.unlock();
        }
    }
}
