package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.Random;

/**
 * Chooses homes so that the source is read as little as its price warrants: the {@code clairfs} policy.
 *
 * <p>A greedy by value density ({@link Prices}) over first copies and further copies at once. The value of a sample's first copy falls when
 * the node that uses it most has filled up, so it is considered again at its new value: first copies wait in a sorted list, the few to be
 * considered again in a heap. Further copies are only counted here ({@link CopyReserve}), as room that must stay free for copies worth
 * more; each node picks its own later ({@link NodePacker}). While any first copy is worth more than every further copy, which is so
 * whenever the source is clearly slower than the network, nothing needs counting.
 *
 * <p>Among samples of equal worth chance decides which get a home. If those used first got one, caches would serve the first part of an
 * epoch and the source the rest: computation could not keep up with the one and would wait for the other.
 *
 * <p>Choosing under the capacities of nodes, where a copy is worth less once there is another, is the maximisation of a
 * submodular function under a partition matroid for samples of one size; the greedy is within a factor of two of the best.
 */
public final class CoverageFirst {
    private final PlanRequest request;
    private final UseTable uses;
    private final Rooms rooms;
    private final Prices prices;
    private final UseTable.Users users;
    private final long[] free;
    private final short[] home;
    private final float[] value;
    private CopyReserve reserve = CopyReserve.NONE;
    private int best;
    private float bestValue;
    private double leastFirst = Double.POSITIVE_INFINITY;
    private double mostFurther;

    public CoverageFirst(PlanRequest request, UseTable uses, Rooms rooms, Prices prices) {
        this.request = request;
        this.uses = uses;
        this.rooms = rooms;
        this.prices = prices;
        users = new UseTable.Users(uses);
        free = new long[request.nodes().size()];
        Arrays.setAll(free, rooms::usable);
        home = new short[request.samples()];
        Arrays.fill(home, (short) Placement.NONE);
        value = new float[request.samples()];
    }

    /** Chooses the homes of all samples. */
    public Homes choose() {
        int[] order = uses.byFirstUse();
        scatter(order);
        int count = 0;
        for (int sample : order) {
            findBest(sample);
            if (best != Placement.NONE) {
                value[sample] = bestValue;
                order[count++] = sample;
                noteExtremes(sample);
            }
        }
        int[] scratch = new int[count];
        DescendingSort.sort(order, count, value, scratch);
        if (mostFurther > leastFirst) {
            reserve = CopyReserve.create(request, uses, prices, (float) mostFurther);
        }
        assign(order, count, new SampleHeap(scratch, value));
        long[] bytes = new long[free.length];
        Arrays.setAll(bytes, node -> rooms.usable(node) - free[node]);
        return new Homes(home, bytes);
    }

    /** Any order will do that is unrelated to those of the epochs, and is the same on every node. */
    static void scatter(int[] samples) {
        Random random = new Random(samples.length);
        for (int i = samples.length - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swap = samples[i];
            samples[i] = samples[other];
            samples[other] = swap;
        }
    }

    private void noteExtremes(int sample) {
        long size = size(sample);
        leastFirst = Math.min(leastFirst, users.total() * prices.coverage(best, size));
        for (int i = 0; i < users.count(); i++) {
            mostFurther = Math.max(mostFurther, users.uses(i) * prices.locality(users.node(i), size));
        }
    }

    private void assign(int[] order, int count, SampleHeap again) {
        int next = 0;
        while (next < count || !again.isEmpty()) {
            boolean fromHeap = next == count || (!again.isEmpty() && again.greatest() > value[order[next]]);
            int sample = fromHeap ? again.poll() : order[next++];
            reserve.passTo(value[sample]);
            findBest(sample);
            if (best == Placement.NONE) {
                reserve.leaveOut(sample, users);
            } else if (bestValue < value[sample]) {
                value[sample] = bestValue;
                again.add(sample);
            } else {
                home[sample] = (short) best;
                free[best] -= rooms.bytesOf(best, size(sample));
                reserve.settle(sample, best);
            }
        }
    }

    private long size(int sample) {
        return request.sizes().bytes(sample);
    }

    private long room(int node) {
        return free[node] - reserve.bytes(node);
    }

    private boolean hasRoom(int node, long size) {
        return rooms.bytesOf(node, size) <= room(node) && rooms.takes(node, size);
    }

    /** Sets {@link #best} to the node with room where a first copy is worth most. */
    private void findBest(int sample) {
        long size = size(sample);
        users.of(sample);
        best = Placement.NONE;
        bestValue = -1;
        for (int i = 0; i < users.count(); i++) {
            consider(sample, users.node(i), users.uses(i), size);
        }
        if (best == Placement.NONE) {
            for (int node = 0; node < free.length; node++) {
                consider(sample, node, 0, size);
            }
        }
    }

    private void consider(int sample, int node, int localUses, long size) {
        if (!hasRoom(node, size)) {
            return;
        }
        float worth = (float) (users.total() * prices.coverage(node, size) + localUses * prices.locality(node, size));
        if (request.held().holds(node, sample)) {
            worth = Math.nextUp(worth); // among samples of equal worth, those already held stay
        }
        if (worth > bestValue || (worth == bestValue && isBetterTie(node))) {
            best = node;
            bestValue = worth;
        }
    }

    /** The emptier node, else the lower number. */
    private boolean isBetterTie(int node) {
        return room(node) != room(best) ? room(node) > room(best) : node < best;
    }
}
