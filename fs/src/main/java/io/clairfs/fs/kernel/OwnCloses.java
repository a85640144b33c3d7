package io.clairfs.fs.kernel;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The files that this process is closing itself, so that their reports are not taken for reads. A report comes within milliseconds, or never
 * where the directory is not watched. Thread-safe.
 */
final class OwnCloses {
    private static final long LATEST_NS = TimeUnit.SECONDS.toNanos(2);
    private static final int MANY = 1 << 16;

    private final LongSupplier clockNs;
    private final Map<Integer, Long> closing = new HashMap<>();

    /** {@code clockNs} is as {@link System#nanoTime}. */
    OwnCloses(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Notes that this process closes {@code file} next. */
    synchronized void closing(int file) {
        long now = clockNs.getAsLong();
        if (closing.size() >= MANY) {
            closing.values().removeIf(then -> now - then > LATEST_NS);
        }
        closing.put(file, now);
    }

    /** Takes a reported close of {@code file}. Returns whether it is this process's own, which is reported once. */
    synchronized boolean take(int file) {
        Long since = closing.isEmpty() ? null : closing.remove(file);
        return since != null && clockNs.getAsLong() - since <= LATEST_NS;
    }

    /** Forgets all of them: reports were lost, perhaps theirs. */
    synchronized void forget() {
        closing.clear();
    }
}
