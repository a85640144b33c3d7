package io.clairfs.cache.order.locality;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Deals one epoch: each step's samples of all ranks, the global batch, to the nodes that own them.
 *
 * <p>The steps of Yang and Cong's section V-A, for step t: the samples that the base order reads at positions [t B, (t + 1) B) of all ranks, in
 * the order of position, then rank. Each node takes those that it owns, up to its number of samples in this step. Samples without an owner
 * go one by one to the node with the largest deficit, and {@link SurplusDeficit} moves the rest. A node deals its samples to its ranks in turn.
 * Every rank reads as many samples in every step as in the base order: DDP averages the means of local batches, so theorem 1 needs it.
 *
 * <p>4 bytes for each sample of the epoch, and 16 for each sample of a global batch while it deals.
 */
final class Dealer {
    private static final int MOST_SAMPLES = Integer.MAX_VALUE - 8;

    private final EpochOrder base;
    private final IntUnaryOperator owners;
    private final int batch;
    private final int perNode;
    /** By rank: how many samples it reads in the epoch, and where they begin in {@link #dealt}. */
    private final int[] length;

    private final int[] start;
    private final int[] dealt;
    private final SurplusDeficit imbalance;

    /** Of the step: the global batch, and the owner of each of its samples; from then on, the samples without an owner. */
    private final int[] slice;

    private final int[] owner;
    /** Of the step: the samples by the node that reads them; a node's begin at {@link #begin}, and the next goes to {@link #next}. */
    private final int[] read;

    private final int[] begin;
    private final int[] next;
    /** Of the step: the samples beyond what their owners read, by owner; {@link #surplusEnd} of each. */
    private final int[] surplus;

    private final int[] surplusEnd;
    private final int[] owned;

    Dealer(EpochOrder base, IntUnaryOperator owners, int nodes, int perNode, int batch) throws InvalidSpecException {
        this.base = base;
        this.owners = owners;
        this.batch = batch;
        this.perNode = perNode;
        int world = nodes * perNode;
        length = new int[world];
        start = new int[world];
        long all = 0;
        long most = 0;
        for (int rank = 0; rank < world; rank++) {
            length[rank] = base.length(rank);
            start[rank] = (int) all;
            all += length[rank];
            most += Math.min(batch, length[rank]);
            if (all > MOST_SAMPLES) {
                throw new InvalidSpecException("the ranks read more than " + MOST_SAMPLES
                        + " samples in an epoch together; a locality-aware order has no more");
            }
        }
        dealt = new int[(int) all];
        imbalance = new SurplusDeficit(nodes);
        slice = new int[(int) most];
        owner = new int[(int) most];
        read = new int[(int) most];
        surplus = new int[(int) most];
        begin = new int[nodes + 1];
        next = new int[nodes];
        surplusEnd = new int[nodes];
        owned = new int[nodes];
    }

    /** An order in one array, a rank's samples side by side. */
    private record Dealt(int[] samples, int[] start, int[] length) implements EpochOrder {
        @Override
        public int length(int rank) {
            return length[rank];
        }

        @Override
        public int sample(int rank, int step) {
            return samples[start[rank] + step];
        }

        @Override
        public long size() {
            return samples.length;
        }
    }

    /** The order of the epoch; once. */
    EpochOrder deal() {
        int longest = Arrays.stream(length).max().orElse(0);
        for (long first = 0; first < longest; first += batch) {
            deal((int) first, (int) Math.min(first + batch, longest));
        }
        return new Dealt(dealt, start, length);
    }

    private void deal(int first, int end) {
        int count = gather(first, end);
        makeRoom(first, end);
        int unowned = takeOwned(count);
        for (int i = 0; i < unowned; i++) {
            read[next[imbalance.takeUnowned()]++] = slice[i];
        }
        imbalance.balance(this::move);
        dealToRanks(first, end);
    }

    /** Fills {@link #slice} and {@link #owner}, and counts what each node owns of it. */
    private int gather(int first, int end) {
        Arrays.fill(owned, 0);
        int count = 0;
        for (int position = first; position < end; position++) {
            for (int rank = 0; rank < length.length; rank++) {
                if (position < length[rank]) {
                    int sample = base.sample(rank, position);
                    int node = owners.applyAsInt(sample);
                    slice[count] = sample;
                    owner[count++] = node;
                    if (node != Owners.NONE) {
                        owned[node]++;
                    }
                }
            }
        }
        return count;
    }

    /** Makes room for what each node reads and for what it owns beyond that. */
    private void makeRoom(int first, int end) {
        int surplusBegin = 0;
        for (int node = 0; node < owned.length; node++) {
            int reads = 0;
            for (int rank = node * perNode; rank < (node + 1) * perNode; rank++) {
                reads += Math.clamp((long) length[rank] - first, 0, end - first);
            }
            begin[node + 1] = begin[node] + reads;
            next[node] = begin[node];
            imbalance.add(node, reads - owned[node]);
            surplusEnd[node] = surplusBegin;
            surplusBegin += Math.max(0, owned[node] - reads);
        }
    }

    /** Gives each node what it owns, up to what it reads. Returns the number of samples without an owner, now first in {@link #slice}. */
    private int takeOwned(int count) {
        int unowned = 0;
        for (int i = 0; i < count; i++) {
            int node = owner[i];
            if (node == Owners.NONE) {
                slice[unowned++] = slice[i];
            } else if (next[node] < begin[node + 1]) {
                read[next[node]++] = slice[i];
            } else {
                surplus[surplusEnd[node]++] = slice[i];
            }
        }
        return unowned;
    }

    private void move(int from, int to, int samples) {
        surplusEnd[from] -= samples;
        System.arraycopy(surplus, surplusEnd[from], read, next[to], samples);
        next[to] += samples;
    }

    private void dealToRanks(int first, int end) {
        for (int node = 0; node < owned.length; node++) {
            int from = begin[node];
            for (int position = first; position < end; position++) {
                for (int rank = node * perNode; rank < (node + 1) * perNode; rank++) {
                    if (position < length[rank]) {
                        dealt[start[rank] + position] = read[from++];
                    }
                }
            }
        }
    }
}
