package io.clairfs.cache.plan.request;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;

/** Gives the order of any epoch; {@code sampler::epoch} is one. Asked by one thread at a time, epochs ascending. */
@FunctionalInterface
public interface EpochSource {
    /**
     * The order of {@code epoch}, counted from 0.
     *
     * @throws InvalidSpecException when the framework would refuse this epoch
     */
    EpochOrder epoch(int epoch) throws InvalidSpecException;
}
