package io.clairfs.cache.plan.model;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The storage that a node offers for samples.
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

    /** The bytes of this node's capacity that a sample of so many bytes takes at most, in any class. */
    public long bytesOf(long sampleBytes) {
        return sampleBytes + entryBytes();
    }

    /** The most that a sample takes beside its bytes, over the classes with room. */
    public int entryBytes() {
        int most = 0;
        for (StorageClass each : classes) {
            most = each.capacityBytes() > 0 ? Math.max(most, each.entryBytes()) : most;
        }
        return most;
    }

    /** The fastest class with room; one without room if there is none. */
    public StorageClass fastest() {
        for (StorageClass each : classes) {
            if (each.capacityBytes() > 0) {
                return each;
            }
        }
        return NO_CLASS;
    }
}
