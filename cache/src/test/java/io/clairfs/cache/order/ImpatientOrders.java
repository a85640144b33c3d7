package io.clairfs.cache.order;

import io.clairfs.cache.order.PlannerOrders.SamplerMaker;
import io.clairfs.cache.testing.TickingClock;
import java.util.concurrent.TimeUnit;

/** Orders of a planner that waits for no file: for tests in which a file has answered, or hangs, when the planner begins to wait. */
public final class ImpatientOrders {
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private ImpatientOrders() {}

    /** As the constructor of {@link PlannerOrders}. */
    public static PlannerOrders of(EpochOrders orders, String file, SamplerMaker samplers) {
        return new PlannerOrders(orders, file, samplers, new TickingClock(), PATIENCE_NS);
    }
}
