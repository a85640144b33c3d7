package io.clairfs.cache.order.locality;

import java.util.function.IntUnaryOperator;

/**
 * The owner of each sample: the node that should keep its first copy. Arithmetic of the dataset's size and the number of nodes, the same on
 * every node: Yang and Cong's "sample locations easily determined" (section V-A).
 *
 * <p>A fixed permutation ({@link FeistelPermutation}) spreads neighbours, such as the images of one class, over the nodes. Each node has a
 * block of consecutive places in it, blocks differ by one sample at most, and the first share {@code cached} of a block is owned. Immutable;
 * 4 bytes for each node.
 */
public final class Owners implements IntUnaryOperator {
    /** In place of a node: no node owns the sample. */
    public static final int NONE = -1;

    private final FeistelPermutation permutation;
    private final int samples;
    private final int nodes;
    /** By node: the end, exclusive, of the places that it owns. */
    private final int[] end;

    /**
     * The owners of samples 0 to {@code samples - 1}.
     *
     * @param cached the share of the dataset that all nodes together own, above 0 and at most 1 (alpha in the paper)
     */
    public Owners(int samples, int nodes, double cached) {
        if (samples < 0 || nodes < 1 || !(cached > 0 && cached <= 1)) {
            throw new IllegalArgumentException(samples + " samples, " + nodes + " nodes, cached " + cached);
        }
        this.samples = samples;
        this.nodes = nodes;
        permutation = new FeistelPermutation(samples);
        end = new int[nodes];
        for (int node = 0; node < nodes; node++) {
            int begin = begin(node);
            end[node] = begin + (int) Math.ceil(cached * (begin(node + 1) - begin));
        }
    }

    /** The first place of the node's block. */
    private int begin(int node) {
        return (int) Math.ceilDiv((long) node * samples, nodes);
    }

    /** The node that owns {@code sample}, counted from 0, or {@link #NONE}. */
    @Override
    public int applyAsInt(int sample) {
        int place = permutation.at(sample);
        int node = (int) ((long) place * nodes / samples);
        return place < end[node] ? node : NONE;
    }

    /** How many samples the node owns. */
    public int owned(int node) {
        return end[node] - begin(node);
    }
}
