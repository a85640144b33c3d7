package io.clairfs.cache.plan.policy;

import java.util.Arrays;

/**
 * How often each node uses each sample, over the epochs that the plan walks (r_k of NoPFS section 3, for all nodes).
 *
 * <p>Two forms, whichever is smaller: a counter per node and sample ({@link UseCounts}), for few nodes and many epochs, or the list of
 * users of each sample ({@link UseLists}), for few epochs and many nodes. Where neither fits the limit, the lists are cut: the plan then
 * looks only so many epochs ahead, which bounds memory at 1,024 ranks.
 */
public abstract sealed class UseTable permits UseCounts, UseLists {
    private final int[] byFirstUse;
    private final int nodes;
    private int used;

    UseTable(int samples, int nodes) {
        byFirstUse = new int[samples];
        this.nodes = nodes;
    }

    /**
     * An empty table.
     *
     * @param usesPerSample expected
     * @param bytesPerSample the limit of its size
     */
    static UseTable create(int samples, int nodes, double usesPerSample, int bytesPerSample) {
        int idBytes = nodes <= 1 << 8 ? 1 : 2;
        int padding = 2; // a few samples are read twice in an epoch, to make the ranks even
        long listed = Math.min((long) Math.ceil(usesPerSample) + padding, bytesPerSample / idBytes);
        listed = Math.max(1, Math.min(listed, (Integer.MAX_VALUE - 8L) / idBytes / Math.max(1, samples)));
        boolean countersFit = nodes <= bytesPerSample && (long) samples * nodes < Integer.MAX_VALUE - 8;
        return countersFit && nodes <= listed * idBytes
                ? new UseCounts(samples, nodes)
                : new UseLists(samples, nodes, (int) Math.min(listed, 255), idBytes);
    }

    /** The node uses the sample once more, after all uses that were added before. */
    final void add(int sample, int node) {
        if (count(sample, node)) {
            byFirstUse[used++] = sample;
        }
    }

    /** Adds to the table. Returns whether it was the sample's first use. */
    abstract boolean count(int sample, int node);

    /** How often the node uses the sample, as far as the table reaches. */
    abstract int uses(int node, int sample);

    /** The node that uses the sample first; the sample is used. */
    abstract int firstUser(int sample);

    /** How many uses per sample it has room for. */
    abstract long mostUsesPerSample();

    abstract void collect(int sample, Users users);

    final int nodes() {
        return nodes;
    }

    /** How many samples are used at all. */
    final int used() {
        return used;
    }

    /** The sample whose first use is the {@code place}-th of all first uses. */
    final int byFirstUse(int place) {
        return byFirstUse[place];
    }

    /** All used samples, first used first. */
    final int[] byFirstUse() {
        return Arrays.copyOf(byFirstUse, used);
    }

    /** The users of one sample at a time; for one thread. */
    static final class Users {
        private final UseTable table;
        private final int[] placeOf;
        private final int[] nodes;
        private final int[] uses;
        private int count;
        private int total;

        Users(UseTable table) {
            this.table = table;
            placeOf = new int[table.nodes];
            Arrays.fill(placeOf, -1);
            nodes = new int[table.nodes];
            uses = new int[table.nodes];
        }

        Users of(int sample) {
            for (int i = 0; i < count; i++) {
                placeOf[nodes[i]] = -1;
            }
            count = 0;
            total = 0;
            table.collect(sample, this);
            return this;
        }

        void add(int node, int times) {
            int place = placeOf[node];
            if (place < 0) {
                place = count++;
                placeOf[node] = place;
                nodes[place] = node;
                uses[place] = 0;
            }
            uses[place] += times;
            total += times;
        }

        /** How many nodes use it. */
        int count() {
            return count;
        }

        int node(int i) {
            return nodes[i];
        }

        int uses(int i) {
            return uses[i];
        }

        /** How often all nodes use it. */
        int total() {
            return total;
        }
    }
}
