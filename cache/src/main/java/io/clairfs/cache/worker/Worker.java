package io.clairfs.cache.worker;

import io.clairfs.cache.status.ErrorLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that does one step again and again until it is closed. A step that fails does not end it: the failure is logged, the first of
 * the same kind in a row is a line in {@code .clairfs/errors}, and after a pause the next step begins.
 *
 * <p>Life cycle: made, {@link #start started} at most once, {@link #close closed}. A step waits by itself for something to do, and returns soon after
 * {@link #isClosed} and a wake-up. A worker takes no lock of its own while a step runs.
 */
public final class Worker implements AutoCloseable {
    /** How long {@link #close} waits at most. */
    public static final long END_TIMEOUT_MS = 2_000;

    private static final Logger LOG = System.getLogger(Worker.class.getName());
    private static final long FAILURE_PAUSE_MS = 200;

    private final Step step;
    private final ErrorLog errors;
    private final Thread thread;
    private Runnable atEnd = () -> {};
    private volatile boolean closed;

    /** The failure of the last step, if it failed; only the thread uses it. */
    private @Nullable String lastFailure;

    /** The step that is repeated. An {@link InterruptedException} ends the worker. */
    @FunctionalInterface
    public interface Step {
        void run() throws Exception;
    }

    /** Does nothing before {@link #start}; {@code name} is the thread's. */
    public Worker(String name, Step step, ErrorLog errors) {
        this.step = step;
        this.errors = errors;
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    /** Sets what the thread does last, such as giving back what its steps use; called before {@link #start}. Returns this. */
    public Worker atEnd(Runnable last) {
        atEnd = last;
        return this;
    }

    /** Starts the thread. Returns this. */
    public Worker start() {
        thread.start();
        return this;
    }

    private void run() {
        try {
            while (!closed) {
                runStep();
            }
        } finally {
            atEnd.run();
        }
    }

    private void runStep() {
        try {
            step.run();
            lastFailure = null;
        } catch (InterruptedException e) {
            closed = true;
        } catch (Throwable t) {
            if (!closed) {
                told(t);
                pause();
            }
        }
    }

    /** Telling it may fail as well, where memory is short; that ends no worker. */
    private void told(Throwable failure) {
        try {
            failed(failure);
        } catch (Throwable untold) {
            lastFailure = null;
        }
    }

    private void failed(Throwable failure) {
        String text = failure.toString();
        if (!text.equals(lastFailure)) {
            lastFailure = text;
            LOG.log(Level.ERROR, thread.getName() + " failed, and goes on", failure);
            errors.add(thread.getName() + " failed, and goes on: " + text);
        }
    }

    /** Pauses for a moment, or until this is closed. */
    private void pause() {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FAILURE_PAUSE_MS);
        for (long left; !closed && (left = until - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    /** Whether the step that runs is the last one. */
    public boolean isClosed() {
        return closed;
    }

    /** Begins no further step. Waits for nothing. */
    public void end() {
        closed = true;
        unpark();
    }

    /** Ends a {@link LockSupport#park} of the step. */
    public void unpark() {
        LockSupport.unpark(thread);
    }

    /** Ends any wait of the step, by an {@link InterruptedException}. Not for steps that use channels, which an interrupt closes. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Ends it, and waits for that {@value #END_TIMEOUT_MS} ms at most. The caller wakes the step before. */
    @Override
    public void close() {
        closeAll(List.of(this));
    }

    /** Ends all of them at once, and waits for that {@value #END_TIMEOUT_MS} ms at most; those that did not end are logged and left behind. */
    public static void closeAll(Collection<Worker> workers) {
        workers.forEach(Worker::end);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_TIMEOUT_MS);
        for (Worker worker : workers) {
            worker.join(deadline);
        }
    }

    private void join(long deadlineNs) {
        if (thread.getState() == Thread.State.NEW || thread.equals(Thread.currentThread())) {
            return;
        }
        try {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime())));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.log(
                    Level.INFO,
                    thread.getName() + " did not end in " + END_TIMEOUT_MS + " ms and is left behind, at "
                            + Arrays.stream(thread.getStackTrace()).limit(3).toList());
        }
    }
}
