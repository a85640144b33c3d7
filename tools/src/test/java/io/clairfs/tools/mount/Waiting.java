package io.clairfs.tools.mount;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for a condition that must come true, even on a slow machine. */
final class Waiting {
    private static final long PATIENCE_S = 120;
    private static final long LOOK_EVERY_MS = 20;

    private Waiting() {}

    static void until(String what, Callable<Boolean> came) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (!came.call()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("never: " + what);
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MS);
        }
    }
}
