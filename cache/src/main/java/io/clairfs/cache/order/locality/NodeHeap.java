package io.clairfs.cache.order.locality;

/** Nodes by an amount of samples, the largest first, among equals the node with the lower number. Amounts are positive. */
final class NodeHeap {
    /** The amount above, the complement of the node below, so that the largest key comes first. */
    private final long[] keys;

    private int size;

    NodeHeap(int nodes) {
        keys = new long[nodes];
    }

    boolean isEmpty() {
        return size == 0;
    }

    void add(int node, int amount) {
        long key = (long) amount << Integer.SIZE | Integer.toUnsignedLong(~node);
        int at = size++;
        while (at > 0 && keys[(at - 1) / 2] < key) {
            keys[at] = keys[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        keys[at] = key;
    }

    /** The first node. */
    int node() {
        return ~(int) keys[0];
    }

    /** The amount of the first node. */
    int amount() {
        return (int) (keys[0] >>> Integer.SIZE);
    }

    /** Takes so many samples from the first node's amount; a node with none left goes. */
    void take(int samples) {
        long key = keys[0] - ((long) samples << Integer.SIZE);
        if (key >>> Integer.SIZE == 0) {
            key = keys[--size];
        }
        int at = 0;
        int child = 1;
        while (child < size) {
            if (child + 1 < size && keys[child + 1] > keys[child]) {
                child++;
            }
            if (keys[child] <= key) {
                break;
            }
            keys[at] = keys[child];
            at = child;
            child = 2 * at + 1;
        }
        keys[at] = key;
    }
}
