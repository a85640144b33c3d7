package io.clairfs.cache.order.locality;

/**
 * Makes the batches of a step even: which node gives how many samples to which other (Yang and Cong, section V-C, Algorithm 1).
 *
 * <p>The largest surplus goes to the largest deficit until none is left. Every transfer settles one node at least, so there are at most P - 1
 * transfers, twice the fewest possible (theorem 2). The number of samples moved is the sum of the deficits, which is the fewest possible.
 * Used for one step after the other; O(P log P) each.
 */
final class SurplusDeficit {
    private final NodeHeap surpluses;
    private final NodeHeap deficits;

    SurplusDeficit(int nodes) {
        surpluses = new NodeHeap(nodes);
        deficits = new NodeHeap(nodes);
    }

    /** Takes the last {@code samples} samples of one node's surplus to another. */
    @FunctionalInterface
    interface Transfer {
        void move(int from, int to, int samples);
    }

    /** Notes a node with {@code missing} samples fewer than it reads in this step; negative for a surplus. */
    void add(int node, int missing) {
        if (missing > 0) {
            deficits.add(node, missing);
        } else if (missing < 0) {
            surpluses.add(node, -missing);
        }
    }

    /** The node that takes a sample that no node owns: the one with the largest deficit, so that reads of the source are even, too. */
    int takeUnowned() {
        int node = deficits.node();
        deficits.take(1);
        return node;
    }

    /** Moves all surpluses to deficits of the same sum; leaves neither. */
    void balance(Transfer transfer) {
        while (!surpluses.isEmpty()) {
            int samples = Math.min(surpluses.amount(), deficits.amount());
            transfer.move(surpluses.node(), deficits.node(), samples);
            surpluses.take(samples);
            deficits.take(samples);
        }
    }
}
