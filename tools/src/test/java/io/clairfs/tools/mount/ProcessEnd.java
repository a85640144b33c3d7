package io.clairfs.tools.mount;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits for the end of processes that need not be children. {@link ProcessHandle#onExit} polls such processes only every 300 ms, and ever
 * less often.
 */
public final class ProcessEnd {
    private static final long STEP_MS = 5;

    private ProcessEnd() {}

    /** Returns as soon as the process has ended. */
    public static void await(ProcessHandle process, long seconds) throws InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (process.isAlive()) {
            if (System.nanoTime() - deadline > 0) {
                throw new TimeoutException("process " + process.pid() + " does not end within " + seconds + " s");
            }
            TimeUnit.MILLISECONDS.sleep(STEP_MS);
        }
    }
}
