package io.clairfs.cache.plan.model;

import java.util.List;
import java.util.stream.IntStream;

/**
 * What a node offers for keeping samples.
 *
 * @param classes fastest first; at most 127, and none on a node that only reads
 */
public record NodeStorage(List<StorageClass> classes) {
    private static final StorageClass NO_CLASS = StorageClass.memory(0);

    public NodeStorage {
        classes = List.copyOf(classes);
        if (classes.size() > Byte.MAX_VALUE) {
            throw new IllegalArgumentException(classes.size() + " storage classes");
        }
    }

    public static NodeStorage of(StorageClass... classes) {
        return new NodeStorage(List.of(classes));
    }

    /** The same classes with other capacities, bytes. */
    public NodeStorage withCapacities(long[] bytes) {
        return new NodeStorage(IntStream.range(0, bytes.length)
                .mapToObj(each -> classes.get(each).withCapacity(bytes[each]))
                .toList());
    }

    /** What a sample of so many bytes takes of this node's capacity at most, whichever class it is put into. */
    public long bytesOf(long sampleBytes) {
        return sampleBytes + entryBytes();
    }

    /** What a sample takes beside its bytes in that class with room where this is most. */
    public int entryBytes() {
        int most = 0;
        for (StorageClass each : classes) {
            most = each.capacityBytes() > 0 ? Math.max(most, each.entryBytes()) : most;
        }
        return most;
    }

    /** The fastest class that has room at all; one without room if there is none. */
    public StorageClass fastest() {
        for (StorageClass each : classes) {
            if (each.capacityBytes() > 0) {
                return each;
            }
        }
        return NO_CLASS;
    }
}
