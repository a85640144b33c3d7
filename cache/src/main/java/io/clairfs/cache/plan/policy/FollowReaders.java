package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;

/**
 * Homes for one epoch: the home of a sample is the node that reads it, so that samples move with their readers. For orders in which most
 * samples stay on their node from one epoch to the next, as in partial local shuffling (Nguyen et al., IPDPS 2022, section III-A).
 *
 * <p>The request is about the epoch and the next one. What a node reads in the next one and has its home elsewhere is a further copy
 * ({@link HomesAndCopies}), which comes while the epoch runs. Where a node has no room for all that it reads, samples that it reads again
 * in the next epoch come first, then chance decides, in the same way in each epoch.
 */
public final class FollowReaders {
    private FollowReaders() {}

    /** Chooses the homes of all samples. */
    public static Homes choose(PlanRequest request, UseTable uses, Rooms rooms) {
        short[] home = new short[request.samples()];
        Arrays.fill(home, (short) Placement.NONE);
        long[] bytes = new long[request.nodes().size()];
        int[] order = uses.byFirstUse();
        Arrays.sort(order);
        CoverageFirst.scatter(order);
        for (int least = 2; least >= 1; least--) {
            for (int sample : order) {
                int node = uses.firstUser(sample);
                long size = request.sizes().bytes(sample);
                long charged = rooms.bytesOf(node, size);
                if (home[sample] == Placement.NONE
                        && uses.uses(node, sample) >= least
                        && rooms.takes(node, size)
                        && bytes[node] + charged <= rooms.usable(node)) {
                    home[sample] = (short) node;
                    bytes[node] += charged;
                }
            }
        }
        return new Homes(home, bytes);
    }
}
