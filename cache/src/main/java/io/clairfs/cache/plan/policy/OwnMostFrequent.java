package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;

/**
 * NoPFS (section 5.1): each node keeps the samples that it uses most itself, whatever the others keep.
 *
 * <p>Samples of one frequency are taken in the order of first use by any node: at the start of a run that is nearly the node's own access
 * order, and it costs one list instead of one per node. A node ends with the first frequency of which not all samples fit. The home of a
 * sample is the node that uses it most, of those that keep it. Two passes over the table serve all nodes: one adds up the bytes of each
 * frequency, one picks.
 */
public final class OwnMostFrequent implements Selection {
    /** Higher frequencies count as this one. */
    private static final int MOST_USES = 255;

    private final PlanRequest request;
    private final UseTable uses;
    private final Rooms rooms;
    /** By node: the rank of the last frequency that is kept, in part or in full. */
    private final int[] lowest;
    /** By node: the bytes that are left for that rank. */
    private final long[] forLowest;

    public OwnMostFrequent(PlanRequest request, UseTable uses, Rooms rooms) {
        this.request = request;
        this.uses = uses;
        this.rooms = rooms;
        lowest = new int[request.nodes().size()];
        forLowest = new long[lowest.length];
        findLowest();
    }

    /** More uses rank higher; among equals, a sample that is held already. */
    private int rank(int node, int sample, int times) {
        return 2 * Math.min(times, MOST_USES) + (request.held().holds(node, sample) ? 1 : 0);
    }

    @Override
    public void select(int node, byte[] marks) {
        long[] left = forLowest.clone();
        for (int i = 0; i < uses.used(); i++) {
            int sample = uses.byFirstUse(i);
            int times = uses.uses(node, sample);
            if (times > 0 && keeps(node, sample, times, left)) {
                marks[sample] = SELECTED;
            }
        }
    }

    /** Chooses the homes of all samples. */
    public Homes choose() {
        int nodes = request.nodes().size();
        UseTable.Users users = new UseTable.Users(uses);
        long[] left = forLowest.clone();
        short[] home = new short[request.samples()];
        Arrays.fill(home, (short) Placement.NONE);
        long[] bytes = new long[nodes];
        for (int i = 0; i < uses.used(); i++) {
            int sample = uses.byFirstUse(i);
            users.of(sample);
            int most = 0;
            for (int user = 0; user < users.count(); user++) {
                int node = users.node(user);
                int times = users.uses(user);
                if (keeps(node, sample, times, left) && (times > most || (times == most && node < home[sample]))) {
                    most = times;
                    home[sample] = (short) node;
                }
            }
            if (most > 0) {
                bytes[home[sample]] +=
                        rooms.bytesOf(home[sample], request.sizes().bytes(sample));
            }
        }
        return new Homes(home, bytes);
    }

    private void findLowest() {
        UseTable.Users users = new UseTable.Users(uses);
        long[][] byRank = new long[lowest.length][2 * MOST_USES + 2];
        for (int i = 0; i < uses.used(); i++) {
            int sample = uses.byFirstUse(i);
            long size = request.sizes().bytes(sample);
            users.of(sample);
            for (int user = 0; user < users.count(); user++) {
                int node = users.node(user);
                if (rooms.takes(node, size)) {
                    byRank[node][rank(node, sample, users.uses(user))] += rooms.bytesOf(node, size);
                }
            }
        }
        for (int node = 0; node < lowest.length; node++) {
            long left = rooms.usable(node);
            int rank = byRank[node].length - 1;
            while (rank > 2 && byRank[node][rank] <= left) {
                left -= byRank[node][rank--];
            }
            lowest[node] = rank;
            forLowest[node] = left;
        }
    }

    private boolean keeps(int node, int sample, int times, long[] left) {
        long size = request.sizes().bytes(sample);
        int rank = rank(node, sample, times);
        if (!rooms.takes(node, size) || rank < lowest[node]) {
            return false;
        }
        if (rank > lowest[node]) {
            return true;
        }
        long charged = rooms.bytesOf(node, size);
        if (charged > left[node]) {
            return false;
        }
        left[node] -= charged;
        return true;
    }
}
