package io.clairfs.cache.dataset;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Lets callers for the same hanging listing share one wait.
 *
 * <p>The kernel admits one request at a time to a directory: of several processes that look into it, the second request arrives when the
 * first has timed out. Its process has waited as long by then, so it fails at once.
 */
final class SharedWaits {
    /** A request this soon after a timeout shares its wait: the kernel admits the next request as soon as one ends. */
    private static final long BEHIND_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int MOST = 1024;

    private final LongSupplier clockNs;
    private final ConcurrentHashMap<Directory, Wait> lately = new ConcurrentHashMap<>();

    /** The last timeout of a caller, after a wait of its own or a shared one. */
    private record Wait(long toldNs, long waitedMs) {}

    /** {@code clockNs} is as {@link System#nanoTime}. */
    SharedWaits(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Records that a wait of {@code waitedMs} for the listing of {@code directory} timed out. */
    void timedOut(Directory directory, long waitedMs) {
        long now = clockNs.getAsLong();
        lately.values().removeIf(wait -> now - wait.toldNs > BEHIND_NS);
        if (lately.size() < MOST) {
            lately.put(directory, new Wait(now, waitedMs));
        }
    }

    /** Whether a caller that would wait {@code timeoutMs} shares a wait that timed out just now. If so, the next caller shares it as well. */
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
