package io.clairfs.cache.worker;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs short tasks in order on a thread of its own, which begins with the first and ends when there has been none for a while. Thread-safe; it has nothing to close. */
public final class OnDemandThread implements Executor {
    private static final Logger LOG = System.getLogger(OnDemandThread.class.getName());
    private static final long IDLE_S = 5;

    private final ThreadPoolExecutor thread;

    public OnDemandThread(String name) {
        thread = new ThreadPoolExecutor(
                1,
                1,
                IDLE_S,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                run -> Thread.ofPlatform().daemon().name(name).unstarted(run));
        thread.allowCoreThreadTimeOut(true);
    }

    /** Runs {@code task} soon; on the calling thread if there can be no other. */
    @Override
    public void execute(Runnable task) {
        AtomicBoolean isTaken = new AtomicBoolean(); // one that could not be begun may have been queued all the same
        Runnable once = () -> {
            if (isTaken.compareAndSet(false, true)) {
                task.run();
            }
        };
        try {
            thread.execute(once);
        } catch (OutOfMemoryError e) {
            LOG.log(Level.DEBUG, "no thread for a task", e);
            once.run();
        }
    }
}
