package io.clairfs.tools.node.restart;

import io.clairfs.tools.node.config.MountSizes;
import io.clairfs.tools.node.limits.MemoryBudget;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** The sizes of a mount among the properties of a {@link SavedMount}, bytes each. */
final class SavedSizes {
    private static final String MEMORY = "memory";
    private static final String STAGING = "staging";
    private static final String HEAP_AREA = "areas.heap";
    private static final String MEMORY_AREA = "areas.memory";
    private static final String STAGING_AREA = "areas.staging";
    private static final String SOURCE_AREA = "areas.source";
    private static final String READERS_AREA = "areas.readers";
    private static final String PEERS_AREA = "areas.peers";
    private static final String QUEUE_AREA = "areas.queue";

    private SavedSizes() {}

    static void write(MountSizes sizes, Properties into) {
        MemoryBudget areas = sizes.areas();
        write(MEMORY, sizes.memoryBytes(), into);
        write(STAGING, sizes.stagingBytes(), into);
        write(HEAP_AREA, areas.heapBytes(), into);
        write(MEMORY_AREA, areas.memoryBytes(), into);
        write(STAGING_AREA, areas.stagingBytes(), into);
        write(SOURCE_AREA, areas.fromSourceBytes(), into);
        write(READERS_AREA, areas.readersBytes(), into);
        write(PEERS_AREA, areas.fromPeersBytes(), into);
        write(QUEUE_AREA, areas.queueBytes(), into);
    }

    private static void write(String name, long bytes, Properties into) {
        into.setProperty(name, Long.toString(bytes));
    }

    /** Null where they are not all there, as in the file of a version that did not keep them. */
    static @Nullable MountSizes read(Properties from) {
        try {
            return new MountSizes(
                    bytes(MEMORY, from),
                    bytes(STAGING, from),
                    new MemoryBudget(
                            bytes(HEAP_AREA, from),
                            bytes(MEMORY_AREA, from),
                            bytes(STAGING_AREA, from),
                            bytes(SOURCE_AREA, from),
                            bytes(READERS_AREA, from),
                            bytes(PEERS_AREA, from),
                            bytes(QUEUE_AREA, from)));
        } catch (IllegalArgumentException notThere) {
            return null;
        }
    }

    private static long bytes(String name, Properties from) {
        return Long.parseLong(from.getProperty(name, ""));
    }
}
