package io.clairfs.peer.directory;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * When each node was heard of last. Hazelcast takes its time before it calls a silent member dead, for that moves data; people who
 * look at the status want to know sooner.
 */
final class LifeSigns {
    private final Map<UUID, Long> heardNs = new ConcurrentHashMap<>();

    /** It said something, or has just been listed. */
    void heard(UUID node) {
        heardNs.put(node, System.nanoTime());
    }

    void forget(UUID node) {
        heardNs.remove(node);
    }

    /** For how long it has said nothing; 0 for a node that is not known. */
    long silentMs(UUID node) {
        Long last = heardNs.get(node);
        return last == null ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last);
    }
}
