package io.clairfs.peer.transfer.client;

import java.util.concurrent.atomic.AtomicInteger;

/** The bytes that may be in flight from all peers together, in equal parts for those with requests now. */
final class FairShare {
    private final long allBytes;
    private final long leastBytes;
    private final AtomicInteger busy = new AtomicInteger();

    FairShare(long allBytes, long leastBytes) {
        this.allBytes = allBytes;
        this.leastBytes = leastBytes;
    }

    void begin() {
        busy.incrementAndGet();
    }

    void end() {
        busy.decrementAndGet();
    }

    long limit(long windowBytes) {
        return Math.min(windowBytes, Math.max(leastBytes, allBytes / Math.max(1, busy.get())));
    }
}
