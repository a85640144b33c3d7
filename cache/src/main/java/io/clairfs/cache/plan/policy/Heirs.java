package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;

/**
 * Gives new homes to the samples of nodes that have left, and moves no other sample.
 *
 * <p>A plan without such a node would move many: homes are chosen in the order of their worth, so each choice that differs changes the room for
 * the next. What moves has to be sent, and is read from the source again if its old home evicts it first. So a plan is made as if the node were
 * still there, and the others take over its samples, those that are read most first, where there is room. When the node comes back, the plan is
 * what it was.
 */
public final class Heirs {
    private final PlanRequest request;
    private final UseTable uses;
    private final Rooms rooms;
    private final Prices prices;
    private final UseTable.Users users;
    private final boolean[] gone;
    private int readers;

    public Heirs(PlanRequest request, UseTable uses, Rooms rooms, Prices prices) {
        this.request = request;
        this.uses = uses;
        this.rooms = rooms;
        this.prices = prices;
        users = new UseTable.Users(uses);
        gone = new boolean[request.nodes().size()];
        request.gone().forEach(node -> gone[node] = true);
    }

    /** These homes, with those on nodes that have left replaced: by other nodes, or by none where there is no room or no reader is left. */
    public Homes takeOver(Homes homes) {
        if (request.gone().isEmpty()) {
            return homes;
        }
        long[] free = new long[gone.length];
        Arrays.setAll(free, node -> gone[node] ? 0 : rooms.usable(node) - homes.bytes()[node]);
        short[] home = homes.of().clone();
        int[] order = uses.byFirstUse();
        CoverageFirst.scatter(order);
        float[] value = new float[request.samples()];
        int count = 0;
        for (int sample : order) {
            if (home[sample] != Placement.NONE && gone[home[sample]]) {
                home[sample] = (short) Placement.NONE;
                countReaders(sample);
                value[sample] = readers;
                order[count] = sample;
                count += readers > 0 ? 1 : 0;
            }
        }
        DescendingSort.sort(order, count, value, new int[count]);
        for (int i = 0; i < count; i++) {
            int heir = heir(order[i], free);
            if (heir != Placement.NONE) {
                home[order[i]] = (short) heir;
                free[heir] -= rooms.bytesOf(heir, request.sizes().bytes(order[i]));
            }
        }
        long[] bytes = new long[gone.length];
        Arrays.setAll(bytes, node -> gone[node] ? 0 : rooms.usable(node) - free[node]);
        return new Homes(home, bytes);
    }

    /** Sets {@link #readers} to the uses of this sample by nodes that are there. */
    private void countReaders(int sample) {
        users.of(sample);
        readers = 0;
        for (int i = 0; i < users.count(); i++) {
            readers += gone[users.node(i)] ? 0 : users.uses(i);
        }
    }

    /** The node with room that reads it most, else the emptiest. */
    private int heir(int sample, long[] free) {
        long size = request.sizes().bytes(sample);
        countReaders(sample);
        int best = Placement.NONE;
        double bestWorth = -1;
        for (int node = 0; node < gone.length; node++) {
            if (gone[node] || !rooms.takes(node, size) || rooms.bytesOf(node, size) > free[node]) {
                continue;
            }
            double worth = readers * prices.coverage(node, size) + usesOn(node) * prices.locality(node, size);
            if (worth > bestWorth || (worth == bestWorth && free[node] > free[best])) {
                best = node;
                bestWorth = worth;
            }
        }
        return best;
    }

    private int usesOn(int node) {
        for (int i = 0; i < users.count(); i++) {
            if (users.node(i) == node) {
                return users.uses(i);
            }
        }
        return 0;
    }
}
