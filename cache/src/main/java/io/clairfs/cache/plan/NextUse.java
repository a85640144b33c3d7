package io.clairfs.cache.plan;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.request.Need;
import java.util.Arrays;

/**
 * The epoch of a job in which a node uses each sample next (the reuse distance of Lobster section 4.4, in epochs).
 *
 * <p>One bit per sample and epoch over {@link #EPOCHS} epochs, so 8 bytes per sample; a run that goes on beyond them gets a new table
 * before they are over. Epochs are fine enough: a full shuffle puts a sample anywhere in its epoch.
 */
public final class NextUse {
    /** How many epochs a table reaches. */
    public static final int EPOCHS = Long.SIZE;

    /** No use within the table's reach. */
    public static final int NEVER = Integer.MAX_VALUE;

    private final int firstEpoch;
    private int endEpoch;
    private final long[] uses;

    private NextUse(int firstEpoch, int endEpoch, int samples) {
        this.firstEpoch = firstEpoch;
        this.endEpoch = endEpoch;
        uses = new long[samples];
    }

    /**
     * The table of one node for the epochs of {@code need} from {@code firstEpoch} on.
     *
     * @throws InvalidSpecException when the job's sampler refuses one of the epochs
     */
    public static NextUse of(Need need, int samples, int node, int firstEpoch) throws InvalidSpecException {
        return ofNodes(need, samples, new int[] {node}, firstEpoch)[0];
    }

    /** As {@link #of}, for several nodes with one walk over the orders; tables in the order of {@code nodes}. */
    public static NextUse[] ofNodes(Need need, int samples, int[] nodes, int firstEpoch) throws InvalidSpecException {
        int endEpoch = (int) Math.max(firstEpoch, Math.min(need.endEpoch(), (long) firstEpoch + EPOCHS));
        NextUse[] tables = new NextUse[nodes.length];
        Arrays.setAll(tables, i -> new NextUse(firstEpoch, endEpoch, samples));
        for (int epoch = firstEpoch; epoch < endEpoch; epoch++) {
            EpochOrder order;
            try {
                order = need.orders().epoch(epoch);
            } catch (InvalidSpecException e) { // of a later epoch: not there yet, or invalid
                if (epoch == firstEpoch) {
                    throw e;
                }
                for (NextUse table : tables) {
                    table.endEpoch = epoch;
                }
                break;
            }
            for (int rank = 0; rank < need.nodeOfRank().length; rank++) {
                for (int i = 0; i < nodes.length; i++) {
                    if (need.nodeOfRank()[rank] == nodes[i]) {
                        tables[i].add(need, order, rank, epoch);
                    }
                }
            }
        }
        return tables;
    }

    private void add(Need need, EpochOrder order, int rank, int epoch) {
        long bit = 1L << (epoch - firstEpoch);
        int length = order.length(rank);
        for (int step = 0; step < length; step++) {
            int sample = need.sampleOf().applyAsInt(order.sample(rank, step));
            if (sample >= 0) {
                uses[sample] |= bit;
            }
        }
    }

    /** The first epoch after {@code epoch} in which the node uses the sample, or {@link #NEVER}. */
    public int after(int epoch, int sample) {
        long from = Math.max(0, epoch + 1L - firstEpoch);
        long later = from >= EPOCHS ? 0 : (uses[sample] >>> from) << from;
        return later == 0 ? NEVER : firstEpoch + Long.numberOfTrailingZeros(later);
    }

    /** The end of the epochs that the table covers, exclusive; a later use counts as {@link #NEVER}. */
    public int endEpoch() {
        return endEpoch;
    }
}
