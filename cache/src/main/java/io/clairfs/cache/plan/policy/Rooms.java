package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.List;

/**
 * The bytes of samples that each node can be promised, including what samples take beside their bytes.
 *
 * <p>A sample lies in one class only, so the last bytes of a class stay empty. Samples of one size fill whole slots. Otherwise the promise
 * leaves the size of the largest sample free for each class but one; then first fit always finds a class with room for the next sample,
 * whatever the order.
 *
 * <p>What a sample takes beside its bytes depends on the class, which is not known when it is promised room. So each sample is charged what
 * it takes at most ({@link NodeStorage#bytesOf}), and a class where it takes less counts for more: by the saving on as many of the largest
 * samples as it holds when full.
 */
public final class Rooms {
    private final List<NodeStorage> nodes;
    private final long[] usable;
    private final long[] largestSample;

    public Rooms(PlanRequest request, UseTable uses) {
        nodes = request.nodes();
        usable = new long[nodes.size()];
        largestSample = new long[nodes.size()];
        long largestOfAll = -1;
        for (int node = 0; node < usable.length; node++) {
            largestSample[node] = -1;
            for (StorageClass each : nodes.get(node).classes()) {
                if (each.capacityBytes() > 0) {
                    largestSample[node] = Math.max(largestSample[node], each.capacityBytes() - each.entryBytes());
                }
            }
            largestOfAll = Math.max(largestOfAll, largestSample[node]);
        }
        long smallest = Long.MAX_VALUE;
        long largest = 0;
        for (int i = 0; i < uses.used(); i++) {
            long size = request.sizes().bytes(uses.byFirstUse(i));
            if (size <= largestOfAll) {
                smallest = Math.min(smallest, size);
                largest = Math.max(largest, size);
            }
        }
        for (int node = 0; node < usable.length; node++) {
            NodeStorage storage = nodes.get(node);
            usable[node] = smallest == largest && smallest > 0
                    ? slots(storage.classes(), smallest) * storage.bytesOf(smallest)
                    : promised(storage, Math.min(largest, Math.max(0, largestSample[node])));
        }
    }

    private static long slots(List<StorageClass> classes, long size) {
        long slots = 0;
        for (StorageClass each : classes) {
            slots += each.capacityBytes() / each.bytesOf(size);
        }
        return slots;
    }

    private static long promised(NodeStorage storage, long largest) {
        int charged = storage.entryBytes();
        long largestClass = 0;
        long sum = charged + largest;
        for (StorageClass each : storage.classes()) {
            if (each.capacityBytes() > 0) {
                largestClass = Math.max(largestClass, each.capacityBytes());
                long unused = each.bytesOf(largest); // when a sample does not fit any more
                long used = Math.max(0, each.capacityBytes() - unused);
                long samples = used / Math.max(1, unused);
                sum += used + samples * (charged - each.entryBytes());
            }
        }
        return largestClass == 0 ? 0 : Math.max(largestClass, sum);
    }

    /** Bytes that samples on this node may add up to, each charged by {@link #bytesOf}. */
    long usable(int node) {
        return usable[node];
    }

    /** Bytes that a sample of this size is charged on this node. */
    long bytesOf(int node, long size) {
        return nodes.get(node).bytesOf(size);
    }

    /** Whether any class of this node takes a sample of this size. */
    boolean takes(int node, long size) {
        return size <= largestSample[node];
    }
}
