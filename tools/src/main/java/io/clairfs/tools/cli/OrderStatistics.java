package io.clairfs.tools.cli;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * What an order means for the nodes that read it: how many samples change their node between epochs, and how much of the dataset a node sees.
 *
 * <p>The samples seen are counted on a few nodes only: all nodes of a large group would take gigabytes.
 */
final class OrderStatistics {
    private static final int MOST_WATCHED = 8;
    private static final int NOBODY = -1;

    private final int samples;
    private final int world;
    private final int ranksOfNode;
    private final int nodes;
    private final int[] watched;
    private final BitSet[] seen;
    private int[] readers;
    private int epochs;
    private long moved;
    private long reads;

    /**
     * Of no epoch yet.
     *
     * @param ranksOfNode ranks that read on one node, those that follow one another
     */
    OrderStatistics(int samples, int world, int ranksOfNode) {
        this.samples = samples;
        this.world = world;
        this.ranksOfNode = ranksOfNode;
        nodes = Math.ceilDiv(world, ranksOfNode);
        readers = new int[0];
        watched = new int[Math.min(nodes, MOST_WATCHED)];
        Arrays.setAll(watched, i -> (int) ((long) i * nodes / watched.length));
        seen = new BitSet[watched.length];
        Arrays.setAll(seen, _ -> new BitSet(samples));
    }

    /** The share of a class at one node and in the dataset, where they differ most. */
    record Skew(int node, int ofClass, double atNode, double inDataset) {
        double distance() {
            return Math.abs(atNode - inDataset);
        }
    }

    /** Adds the epoch after the last one, or epoch 0. */
    void add(Sampler sampler) throws InvalidSpecException {
        EpochOrder order = sampler.epoch(epochs);
        int[] now = new int[samples];
        Arrays.fill(now, NOBODY);
        for (int rank = 0; rank < world; rank++) {
            int node = rank / ranksOfNode;
            int place = Arrays.binarySearch(watched, node);
            for (int step = 0; step < order.length(rank); step++) {
                int sample = order.sample(rank, step);
                now[sample] = now[sample] == NOBODY ? node : now[sample]; // a repeated sample counts where it is first
                if (place >= 0) {
                    seen[place].set(sample);
                }
            }
        }
        if (epochs > 0) {
            countMoves(readers, now);
        }
        readers = now;
        epochs++;
    }

    private void countMoves(int[] before, int[] now) {
        for (int sample = 0; sample < samples; sample++) {
            if (before[sample] != NOBODY && now[sample] != NOBODY) {
                reads++;
                moved += before[sample] == now[sample] ? 0 : 1;
            }
        }
    }

    int nodes() {
        return nodes;
    }

    int epochs() {
        return epochs;
    }

    /** Of all samples, the share that another node reads than in the epoch before: the mean of the epochs after the first. */
    double movedShare() {
        return reads == 0 ? 0 : (double) moved / reads;
    }

    /** Samples that a node receives between two epochs, on average. */
    double movedPerNode() {
        return epochs < 2 ? 0 : (double) moved / (epochs - 1) / nodes;
    }

    /** The nodes on which the samples seen are counted. */
    int watchedNodes() {
        return watched.length;
    }

    /** The share of the dataset that a node has read in any of the epochs, on average. */
    double seenShare() {
        return Arrays.stream(seen).mapToInt(BitSet::cardinality).average().orElse(0) / Math.max(1, samples);
    }

    /** That share as partial local shuffling has it: each exchange brings a node Q / M of what it has not seen. */
    static double expectedSeenShare(int nodes, double exchanged, int epochs) {
        return 1 - (1 - 1.0 / nodes) * Math.pow(1 - exchanged / nodes, epochs - 1);
    }

    /**
     * How far the classes of each node differ from those of the dataset in the last epoch, by node; null for one that reads nothing.
     *
     * @param classOf by sample, below {@code classes}
     */
    @Nullable
    Skew[] skews(int[] classOf, int classes) {
        int[] inDataset = new int[classes];
        int[][] atNode = new int[nodes][classes];
        int[] sizes = new int[nodes];
        for (int sample = 0; sample < samples; sample++) {
            inDataset[classOf[sample]]++;
            if (readers[sample] != NOBODY) {
                atNode[readers[sample]][classOf[sample]]++;
                sizes[readers[sample]]++;
            }
        }
        @Nullable Skew[] skews = new Skew[nodes];
        for (int node = 0; node < nodes; node++) {
            for (int each = 0; sizes[node] > 0 && each < classes; each++) {
                Skew skew = new Skew(
                        node, each, (double) atNode[node][each] / sizes[node], (double) inDataset[each] / samples);
                Skew most = skews[node];
                skews[node] = most == null || skew.distance() > most.distance() ? skew : most;
            }
        }
        return skews;
    }
}
