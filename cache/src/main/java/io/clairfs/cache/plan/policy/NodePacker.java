package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.List;

/**
 * Spreads what a node keeps over its classes.
 *
 * <p>The fastest class takes the samples with the most local uses. Among equals, samples that it already holds come first, then those that
 * the next class holds, and so on, then those used first, so that what is read first is kept as it is read. A further copy goes to no class
 * from which it would come slower than from elsewhere.
 */
public final class NodePacker {
    private final PlanRequest request;
    private final UseTable uses;
    private final Prices prices;
    private final Homes homes;
    private final Selection selection;

    public NodePacker(PlanRequest request, UseTable uses, Prices prices, Homes homes, Selection selection) {
        this.request = request;
        this.uses = uses;
        this.prices = prices;
        this.homes = homes;
        this.selection = selection;
    }

    /**
     * The samples that a node keeps in each class.
     *
     * @param classOf by sample, {@link Placement#NONE} for one that is not kept
     * @param bytes by class, of the samples, with what they take beside their bytes
     * @param order by class, the samples that it keeps, in the order of first use by any node
     */
    record Contents(byte[] classOf, long[] bytes, int[][] order) {}

    Contents pack(int node) {
        byte[] classOf = new byte[request.samples()];
        Arrays.fill(classOf, (byte) Placement.NONE);
        selection.select(node, classOf);
        int classes = request.nodes().get(node).classes().size();
        int[] kept = uses.byFirstUse();
        float[] worth = new float[request.samples()];
        int count = 0;
        for (int sample : kept) {
            if (classOf[sample] == Selection.SELECTED) {
                worth[sample] = worth(node, sample, classes);
                kept[count++] = sample;
            }
        }
        DescendingSort.sort(kept, count, worth, new int[count]);
        return firstFit(node, kept, count, classOf);
    }

    private float worth(int node, int sample, int classes) {
        int held = request.held().classOf(node, sample);
        return (classes + 1f) * uses.uses(node, sample) + (held == Held.NOT_HELD ? 0 : classes - held);
    }

    private Contents firstFit(int node, int[] kept, int count, byte[] classOf) {
        List<StorageClass> classes = request.nodes().get(node).classes();
        long[] bytes = new long[classes.size()];
        for (int i = 0; i < count; i++) {
            int sample = kept[i];
            long size = request.sizes().bytes(sample);
            classOf[sample] = (byte) Placement.NONE;
            for (int each = 0; each < bytes.length; each++) {
                long taken = bytes[each] + classes.get(each).bytesOf(size);
                if (taken <= classes.get(each).capacityBytes() && isWorth(node, each, sample, size)) {
                    bytes[each] = taken;
                    classOf[sample] = (byte) each;
                    break;
                }
            }
            assert classOf[sample] != Placement.NONE || homes.of()[sample] != node : "a home without room";
        }
        return new Contents(classOf, bytes, order(classOf, bytes.length));
    }

    private int[][] order(byte[] classOf, int classes) {
        int[] count = new int[classes];
        for (byte each : classOf) {
            if (each >= 0) {
                count[each]++;
            }
        }
        int[][] order = Arrays.stream(count).mapToObj(int[]::new).toArray(int[][]::new);
        Arrays.fill(count, 0);
        for (int place = 0; place < uses.used(); place++) {
            int sample = uses.byFirstUse(place);
            int each = classOf[sample];
            if (each >= 0) {
                order[each][count[each]++] = sample;
            }
        }
        return order;
    }

    private boolean isWorth(int node, int storageClass, int sample, long size) {
        return homes.of()[sample] == node || prices.locality(node, storageClass, size) > 0;
    }
}
