package io.clairfs.cache.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for what other threads do, with an end. */
public final class Await {
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(120);

    private static final long POLL_NS = 50_000;

    private Await() {}

    public static void until(String what, BooleanSupplier happened) {
        long start = System.nanoTime();
        while (!happened.getAsBoolean()) {
            if (System.nanoTime() - start > LONGEST_NS) {
                throw new AssertionError("it never happened: " + what);
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }
}
