package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;

/**
 * A node keeps its homes, and spends the remaining room on further copies of samples that have their home elsewhere: first those that save
 * most per byte, among equals those already held, then those used first.
 */
public final class HomesAndCopies implements Selection {
    private final PlanRequest request;
    private final UseTable uses;
    private final Rooms rooms;
    private final Prices prices;
    private final Homes homes;

    public HomesAndCopies(PlanRequest request, UseTable uses, Rooms rooms, Prices prices, Homes homes) {
        this.request = request;
        this.uses = uses;
        this.rooms = rooms;
        this.prices = prices;
        this.homes = homes;
    }

    @Override
    public void select(int node, byte[] marks) {
        long room = rooms.usable(node) - homes.bytes()[node];
        for (int sample = 0; sample < marks.length; sample++) {
            if (homes.of()[sample] == node) {
                marks[sample] = SELECTED;
            }
        }
        if (room > 0) {
            selectCopies(node, room, marks);
        }
    }

    private void selectCopies(int node, long room, byte[] marks) {
        int[] candidates = uses.byFirstUse();
        float[] worth = new float[marks.length];
        int count = 0;
        for (int sample : candidates) {
            int home = homes.of()[sample];
            if (home != Placement.NONE && home != node) {
                worth[sample] = worth(node, sample);
                if (worth[sample] > 0) {
                    candidates[count++] = sample;
                }
            }
        }
        DescendingSort.sort(candidates, count, worth, new int[count]);
        long left = room;
        for (int i = 0; i < count; i++) {
            long size = request.sizes().bytes(candidates[i]);
            long charged = rooms.bytesOf(node, size);
            if (charged <= left && rooms.takes(node, size)) {
                left -= charged;
                marks[candidates[i]] = SELECTED;
            }
        }
    }

    private float worth(int node, int sample) {
        float worth = (float)
                (uses.uses(node, sample) * prices.locality(node, request.sizes().bytes(sample)));
        return worth > 0 && request.held().holds(node, sample) ? Math.nextUp(worth) : worth;
    }
}
