package io.clairfs.peer.transfer.server;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one connection that wait to be passed to the service, and the bytes that are promised to those that were passed and have no
 * answer yet.
 *
 * <p>Samples to give and samples to make have a bound each: so many bytes, and a sample more. What is given counts until it is answered, for then
 * the send queue bounds it. What is made counts until it is written: it is answered when it is ready, whatever else waits to be sent. What is still
 * to be made holds back nothing that is there already.
 *
 * <p>Used on the connection's event loop.
 */
final class RequestQueue {
    private final long mostBytes;
    private final ArrayDeque<Asked> toGive = new ArrayDeque<>();
    private final ArrayDeque<Asked> toMake = new ArrayDeque<>();
    private long givingBytes;
    private long makingBytes;

    /** An empty queue; {@code mostBytes} may be promised of either kind. */
    RequestQueue(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    void add(Asked asked) {
        (asked.toMake ? toMake : toGive).add(asked);
    }

    /** Takes out one that has ended before its turn. */
    void remove(Asked asked) {
        boolean _ = (asked.toMake ? toMake : toGive).remove(asked);
    }

    boolean isEmpty() {
        return toGive.isEmpty() && toMake.isEmpty();
    }

    /** Takes out the next one that may be passed on; null if none may. Those to make go first: it takes nothing of the line to begin with them. */
    @Nullable
    Asked poll() {
        Asked next = makingBytes < mostBytes ? toMake.poll() : null;
        return next != null || givingBytes >= mostBytes ? next : toGive.poll();
    }

    /** Counts so many bytes for a request that is answered later. */
    void promise(Asked asked, long bytes) {
        count(asked, bytes);
    }

    /** Nothing is promised to this request any more. Does nothing for one to which nothing was, or is not any more. */
    void free(Asked asked) {
        count(asked, -asked.promised);
    }

    private void count(Asked asked, long bytes) {
        asked.promised += bytes;
        if (asked.toMake) {
            makingBytes += bytes;
        } else {
            givingBytes += bytes;
        }
    }

    void clear() {
        toGive.clear();
        toMake.clear();
    }
}
