package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;

/** The base of policies that take the order from the sampler. */
abstract class SamplerOrder implements Policy {
    final Setup setup;
    final Costs costs;

    SamplerOrder(Setup setup) {
        this.setup = setup;
        costs = setup.costs();
    }

    @Override
    public EpochOrder order(int epoch) throws InvalidSpecException {
        return setup.orders().epoch(epoch);
    }
}
