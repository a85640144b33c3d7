package io.clairfs.cache.order;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The orders of a sampler, computed when they are asked for and shared by all ranks of this node; a few epochs are kept, which
 * bounds memory to a few orders whatever the number of epochs.
 */
public final class EpochOrders {
    private static final int KEPT = 3;

    private final Sampler sampler;
    private final Map<Integer, EpochOrder> recent = new LinkedHashMap<>(8, 0.75f, true);

    public EpochOrders(Sampler sampler) {
        this.sampler = sampler;
    }

    /** The order of {@code epoch}; blocks while it is computed. */
    public synchronized EpochOrder epoch(int epoch) throws InvalidSpecException {
        EpochOrder order = recent.get(epoch);
        if (order == null) {
            order = sampler.epoch(epoch);
            recent.put(epoch, order);
            if (recent.size() > KEPT) {
                recent.remove(recent.keySet().iterator().next());
            }
        }
        return order;
    }

    /** The order of {@code epoch} for one look: not kept, so that a look at many epochs pushes out none in use. */
    public synchronized EpochOrder peek(int epoch) throws InvalidSpecException {
        EpochOrder order = recent.get(epoch);
        return order != null ? order : sampler.epoch(epoch);
    }
}
