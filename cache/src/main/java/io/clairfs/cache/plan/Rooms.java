package io.clairfs.cache.plan;

import java.util.List;

/**
 * How many bytes of samples each node can be promised.
 *
 * <p>A sample lies in one class only, so the last bytes of a class stay empty. Samples of one size fill whole slots. Otherwise
 * what is promised leaves the size of the largest sample free for each class but one; then first fit always finds a class with
 * room for the next sample, whatever the order.
 */
final class Rooms {
    private final long[] usable;
    private final long[] largestClass;

    Rooms(PlanRequest request, UseTable uses) {
        List<NodeStorage> nodes = request.nodes();
        usable = new long[nodes.size()];
        largestClass = new long[nodes.size()];
        long largestOfAll = 0;
        for (int node = 0; node < usable.length; node++) {
            for (StorageClass each : nodes.get(node).classes()) {
                largestClass[node] = Math.max(largestClass[node], each.capacityBytes());
            }
            largestOfAll = Math.max(largestOfAll, largestClass[node]);
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
            List<StorageClass> classes = nodes.get(node).classes();
            usable[node] = smallest == largest && smallest > 0
                    ? slots(classes, smallest) * smallest
                    : promised(classes, Math.min(largest, largestClass[node]), largestClass[node]);
        }
    }

    private static long slots(List<StorageClass> classes, long size) {
        long slots = 0;
        for (StorageClass each : classes) {
            slots += each.capacityBytes() / size;
        }
        return slots;
    }

    private static long promised(List<StorageClass> classes, long largest, long largestClass) {
        long sum = 0;
        int filled = 0;
        for (StorageClass each : classes) {
            sum += each.capacityBytes();
            filled += each.capacityBytes() > 0 ? 1 : 0;
        }
        return Math.max(largestClass, sum - Math.max(0, filled - 1) * largest);
    }

    /** What samples on this node may add up to. */
    long usable(int node) {
        return usable[node];
    }

    /** Whether any class of this node takes a sample of this size. */
    boolean takes(int node, long size) {
        return largestClass[node] > 0 && size <= largestClass[node];
    }
}
