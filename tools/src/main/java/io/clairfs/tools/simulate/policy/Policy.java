package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;

/**
 * Decides how one run keeps and fetches samples. It is made for the run and called in this order: for each epoch, {@link #order}; for each
 * iteration, {@link #advance} of each node and then, node by node, {@link #place} for each sample of the batch.
 */
public interface Policy {
    /** Prepares the first epoch. Returns the seconds of the preparation. */
    default double prepare() {
        return 0;
    }

    /** The samples that each node reads in this epoch. */
    EpochOrder order(int epoch) throws InvalidSpecException;

    /**
     * The node begins to stage a batch at this time; all background work until then is done now.
     *
     * @param hungry whether less than half of the node's staging buffer was full when its last batch was staged
     */
    default void advance(int node, double seconds, boolean hungry) {}

    /** The reads of the source in the background since the last call. */
    default AtSource takeAtSource() {
        return AtSource.NONE;
    }

    /** The node stages this sample. Returns the place that it comes from, as {@link Costs} numbers them. */
    int place(int node, int sample);

    /** Whether the trainer itself reads the samples of the source, one after the other, when it needs them. */
    default boolean waitsForSource() {
        return false;
    }

    /** Whether samples are read in another order than the sampler's, or by other nodes. */
    default boolean changesOrder() {
        return false;
    }

    /** Whether every epoch can read every sample. */
    default boolean readsFullDataset() {
        return true;
    }
}
