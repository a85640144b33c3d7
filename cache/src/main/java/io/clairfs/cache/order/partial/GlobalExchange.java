package io.clairfs.cache.order.partial;

import io.clairfs.cache.order.python.NumpyShuffle;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Pcg64;
import io.clairfs.cache.order.random.SeedSequence;
import java.math.BigInteger;
import java.util.List;

/**
 * The parts of a dataset that the nodes hold, and how samples move between them: Algorithm 1 of Nguyen et al., IPDPS 2022.
 *
 * <p>All parts lie behind one another in an array, each in the order in which its node reads it. Before an epoch each node permutes its part
 * and sends the first few samples away; for each of these places one permutation of the nodes, shared by all, says where its samples go. So
 * every node receives as many as it sends, and what it receives takes the places of what it has sent. Then each node shuffles its new part.
 *
 * <p>Each use of chance has a generator of its own, numpy's PCG64 seeded with (seed, epoch, purpose, node).
 */
final class GlobalExchange {
    private static final int PARTITION = 0;
    private static final int CHOICE = 1;
    private static final int DESTINATIONS = 2;
    private static final int LOCAL_ORDER = 3;

    private final BigInteger seed;
    private final int nodes;
    private final int sent;
    /** By node, where its part begins; one more for the end. */
    private final int[] begin;

    /**
     * The exchange between {@code nodes} nodes.
     *
     * @param fraction of each part that is sent before an epoch, from 0 to 1
     */
    GlobalExchange(BigInteger seed, int samples, int nodes, double fraction) {
        this.seed = seed;
        this.nodes = nodes;
        int least = samples / nodes;
        int longer = samples % nodes;
        sent = (int) (fraction * least + 0.5);
        begin = new int[nodes + 1];
        for (int node = 0; node <= nodes; node++) {
            begin[node] = node * least + Math.min(node, longer);
        }
    }

    /** How many samples each node sends, and receives, before an epoch; the permutation may leave some of them where they are. */
    int sent() {
        return sent;
    }

    /** The place of the first sample of a node's part. */
    int begin(int node) {
        return begin[node];
    }

    /** How many samples a node's part has. */
    int length(int node) {
        return begin[node + 1] - begin[node];
    }

    /** The parts in epoch 0: a permutation of all samples, cut. */
    int[] first() {
        int[] parts = PermutationSampler.identity(begin[nodes]);
        shuffle(0, PARTITION, 0).shuffle(parts);
        shuffleParts(parts, 0, LOCAL_ORDER);
        return parts;
    }

    /** Turns the parts of the epoch before into those of {@code epoch}. */
    void next(int[] parts, int epoch) {
        shuffleParts(parts, epoch, CHOICE);
        NumpyShuffle destinations = shuffle(epoch, DESTINATIONS, 0);
        int[] received = new int[nodes];
        for (int i = 0; i < sent; i++) {
            int[] to = PermutationSampler.identity(nodes);
            destinations.shuffle(to);
            for (int node = 0; node < nodes; node++) {
                received[to[node]] = parts[begin[node] + i];
            }
            for (int node = 0; node < nodes; node++) {
                parts[begin[node] + i] = received[node];
            }
        }
        shuffleParts(parts, epoch, LOCAL_ORDER);
    }

    private void shuffleParts(int[] parts, int epoch, int purpose) {
        for (int node = 0; node < nodes; node++) {
            shuffle(epoch, purpose, node).shuffle(parts, begin[node], length(node));
        }
    }

    private NumpyShuffle shuffle(int epoch, int purpose, int node) {
        List<BigInteger> seeds =
                List.of(seed, BigInteger.valueOf(epoch), BigInteger.valueOf(purpose), BigInteger.valueOf(node));
        return new NumpyShuffle(new Pcg64(new SeedSequence(seeds)));
    }
}
