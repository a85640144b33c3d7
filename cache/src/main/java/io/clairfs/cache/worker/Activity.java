package io.clairfs.cache.worker;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Whether anything happens on this node that threads should know of which look by themselves: reads, samples that are brought, changes of jobs. While
 * something happens they look as often as they need to, and at rest seldom, for each wake-up costs a compute node time. What happens then ends their
 * rest at once.
 *
 * <p>Thread-safe. {@link #happened} takes no lock, and those who rest are called by it, on its thread.
 */
public final class Activity {
    private final AtomicLong happened = new AtomicLong();
    private final List<Runnable> resting = new CopyOnWriteArrayList<>();

    /** Something has happened. */
    public void happened() {
        happened.incrementAndGet();
        if (!resting.isEmpty()) {
            resting.forEach(Runnable::run);
        }
    }

    /** What has happened so far: read before a look, then passed to {@link #begin}. */
    public long seen() {
        return happened.get();
    }

    /**
     * Begins a rest, unless something has happened since {@code seen}. Until {@link #end} the next that happens calls {@code wake}, perhaps more than
     * once. Returns whether it has begun.
     */
    public boolean begin(long seen, Runnable wake) {
        if (happened.get() == seen) {
            resting.add(wake);
            if (happened.get() == seen) {
                return true;
            }
            resting.remove(wake);
        }
        return false;
    }

    /** Ends the rest that {@link #begin} has begun with {@code wake}; does nothing if there is none. */
    public void end(Runnable wake) {
        resting.remove(wake);
    }

    /**
     * The looks of one thread at what there is to do.
     *
     * @param pauseMs how long it pauses while something happens
     * @param restMs how long it pauses at most while nothing does
     */
    public Looks looks(long pauseMs, long restMs) {
        return new Looks(pauseMs, restMs);
    }

    /** Looks again and again. Used by one thread; an {@link LockSupport#unpark} ends each of its pauses. */
    public final class Looks {
        private final long pauseMs;
        private final long restMs;
        private long seenBefore = -1;
        private long seen = -1;

        private Looks(long pauseMs, long restMs) {
            this.pauseMs = pauseMs;
            this.restMs = restMs;
        }

        /** A look begins. */
        public void begin() {
            seenBefore = seen;
            seen = happened.get();
        }

        /** Pauses after a look: until something happens, if nothing did since the look before that. */
        public void pause() {
            Thread sleeper = Thread.currentThread();
            Runnable wake = () -> LockSupport.unpark(sleeper);
            if (seen == seenBefore && Activity.this.begin(seen, wake)) {
                try {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(restMs));
                } finally {
                    end(wake);
                }
            } else {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
            }
        }
    }
}
