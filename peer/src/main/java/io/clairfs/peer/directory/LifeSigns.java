package io.clairfs.peer.directory;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * When each node was last heard. Hazelcast waits long before it takes a silent member for dead, because that moves data; the status
 * shows silence sooner.
 */
final class LifeSigns {
    private final Map<UUID, Long> heardNs = new ConcurrentHashMap<>();

    /** Notes that a node sent something, or has just been listed. */
    void heard(UUID node) {
        heardNs.put(node, System.nanoTime());
    }

    void forget(UUID node) {
        heardNs.remove(node);
    }

    /** How long a node has been silent, milliseconds; 0 for an unknown node. */
    long silentMs(UUID node) {
        Long last = heardNs.get(node);
        return last == null ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last);
    }
}
