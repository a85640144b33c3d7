package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;

/**
 * Lobster (section 4.4) as a plan: the first reader of a sample keeps it, and the last copy is never evicted.
 *
 * <p>Samples do not move, so one whose first reader is full of last copies stays with the source. The policy's reuse distance depends on
 * the moment, which a plan does not know: the remaining room goes by reuse count here, and by reuse distance in {@code FurtherCopies} at
 * run time.
 */
public final class FirstReaderHolds {
    private FirstReaderHolds() {}

    /** Chooses the homes of all samples. */
    public static Homes choose(PlanRequest request, UseTable uses, Rooms rooms) {
        short[] home = new short[request.samples()];
        Arrays.fill(home, (short) Placement.NONE);
        long[] bytes = new long[request.nodes().size()];
        for (int i = 0; i < uses.used(); i++) {
            int sample = uses.byFirstUse(i);
            int node = uses.firstUser(sample);
            long size = request.sizes().bytes(sample);
            long charged = rooms.bytesOf(node, size);
            if (rooms.takes(node, size) && bytes[node] + charged <= rooms.usable(node)) {
                home[sample] = (short) node;
                bytes[node] += charged;
            }
        }
        return new Homes(home, bytes);
    }
}
