package io.clairfs.cache.dataset;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Has those who ask for the same hanging listing share one wait.
 *
 * <p>The kernel lets one request at a time into a directory: of several processes that walk into it the second asks when the first has been told that
 * the source does not answer. It has waited as long by then, and is told the same at once.
 */
final class SharedWaits {
    /** How soon behind the one before the next asks: it runs as soon as the kernel has let the one before go. */
    private static final long BEHIND_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int MOST = 1024;

    private final LongSupplier clockNs;
    private final ConcurrentHashMap<Directory, Wait> lately = new ConcurrentHashMap<>();

    /** Somebody waited so long in vain, or was told so at once. */
    private record Wait(long toldNs, long waitedMs) {}

    /** {@code clockNs} is as {@link System#nanoTime}. */
    SharedWaits(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Somebody has waited {@code waitedMs} for the listing of {@code directory} in vain. */
    void timedOut(Directory directory, long waitedMs) {
        long now = clockNs.getAsLong();
        lately.values().removeIf(wait -> now - wait.toldNs > BEHIND_NS);
        if (lately.size() < MOST) {
            lately.put(directory, new Wait(now, waitedMs));
        }
    }

    /** Whether who asks now, and would wait {@code timeoutMs}, has shared the wait of somebody who was told just now; the next shares it as well. */
    boolean isShared(Directory directory, long timeoutMs) {
        long now = clockNs.getAsLong();
        Wait wait = lately.get(directory);
        if (wait == null || now - wait.toldNs > BEHIND_NS || wait.waitedMs < timeoutMs) {
            return false;
        }
        lately.replace(directory, wait, new Wait(now, wait.waitedMs));
        return true;
    }
}
