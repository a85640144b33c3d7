package io.clairfs.cache.plan;

import java.util.List;

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

    /** The fastest class that has room at all; one without room if there is none. */
    StorageClass fastest() {
        for (StorageClass each : classes) {
            if (each.capacityBytes() > 0) {
                return each;
            }
        }
        return NO_CLASS;
    }
}
