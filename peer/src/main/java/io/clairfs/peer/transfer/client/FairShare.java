package io.clairfs.peer.transfer.client;

import java.util.concurrent.atomic.AtomicInteger;

/** The bytes that may be in flight from all peers together, in equal parts for the rails of those with requests now. */
final class FairShare {
    private final long allBytes;
    private final long leastBytes;
    private final AtomicInteger busy = new AtomicInteger();

    FairShare(long allBytes, long leastBytes) {
        this.allBytes = allBytes;
        this.leastBytes = leastBytes;
    }

    /** A peer with so many rails has requests. */
    void begin(int rails) {
        busy.addAndGet(rails);
    }

    /** It has none any more. */
    void end(int rails) {
        busy.addAndGet(-rails);
    }

    long limit(long windowBytes) {
        return Math.min(windowBytes, Math.max(leastBytes, allBytes / Math.max(1, busy.get())));
    }
}
