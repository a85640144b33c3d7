package io.clairfs.fs.read;

import io.clairfs.cache.status.Counters;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts opens, and those that needed the daemon.
 *
 * <p>The kernel requests a file in pieces and reports its close once, so a file counts from its first request until it is closed.
 * Where closes are not reported, a request for the first byte counts.
 */
public final class ReadAccounting {
    private final Counters counters;
    private final Set<Integer> asked = ConcurrentHashMap.newKeySet();

    public ReadAccounting(Counters counters) {
        this.counters = counters;
    }

    /** Counts a request for a piece of a file. Returns whether it is the first of an open. */
    boolean request(int file, long offset, boolean closesReported) {
        counters.readRequests.increment();
        boolean first = closesReported ? asked.add(file) : offset == 0;
        if (first) {
            counters.openedWithUpcall.increment();
            if (!closesReported) {
                counters.opened.increment();
                counters.closedAfterUpcall.increment();
            }
        }
        return first;
    }

    /** Returns whether a reader sent a request for this file since its last close. */
    boolean isAsked(int file) {
        return asked.contains(file);
    }

    /** Returns whether a reader sent a request for this file since its last close, and forgets it. */
    boolean takeAsked(int file) {
        boolean wasAsked = asked.remove(file);
        if (wasAsked) {
            counters.closedAfterUpcall.increment();
        }
        return wasAsked;
    }

    /** Closes were not reported: files that readers have closed would count as open for ever. */
    void reportsLost() {
        asked.clear();
    }

    void answered(long bytes) {
        counters.readRequestBytes.add(bytes);
    }

    /** Counts the first {@code count} of these files, which readers closed. */
    void closed(int[] files, int count) {
        counters.opened.add(count);
        if (!asked.isEmpty()) {
            for (int i = 0; i < count; i++) {
                boolean _ = takeAsked(files[i]);
            }
        }
    }
}
