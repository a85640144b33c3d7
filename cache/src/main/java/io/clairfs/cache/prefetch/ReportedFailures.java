package io.clairfs.cache.prefetch;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Which failures were reported within the last minute. A sample that cannot be read is tried again and again by loaders and fillers; a line for each try
 * would push all others out of the errors.
 */
final class ReportedFailures {
    private static final long QUIET_NS = TimeUnit.MINUTES.toNanos(1);
    private static final int MOST = 1024;

    private final LongSupplier clockNs;

    /** When each was reported, the longest ago first. */
    private final Map<String, Long> reported = new LinkedHashMap<>();

    ReportedFailures(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Whether to report this failure now. */
    synchronized boolean isNews(String failure) {
        long now = clockNs.getAsLong();
        Long before = reported.get(failure);
        if (before != null && now - before < QUIET_NS) {
            return false;
        }
        reported.remove(failure); // so that it comes last
        reported.put(failure, now);
        if (reported.size() > MOST) {
            reported.remove(reported.keySet().iterator().next());
        }
        return true;
    }
}
