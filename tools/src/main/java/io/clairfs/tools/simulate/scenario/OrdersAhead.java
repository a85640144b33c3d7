package io.clairfs.tools.simulate.scenario;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.request.EpochSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The orders of a run's epochs, one after the other. The next order is computed while the current one is read. */
public final class OrdersAhead {
    private final EpochSource source;
    private final int nodes;
    private final int epochs;
    private int ahead = -1;
    private @Nullable CompletableFuture<Flat> next;

    OrdersAhead(EpochSource source, int nodes, int epochs) {
        this.source = source;
        this.nodes = nodes;
        this.epochs = epochs;
    }

    /** An order as an array, step by step, so that an iteration's samples are adjacent. */
    private record Flat(int[] samples, int nodes) implements EpochOrder {
        @Override
        public int length(int rank) {
            return samples.length / nodes;
        }

        @Override
        public int sample(int rank, int step) {
            return samples[step * nodes + rank];
        }
    }

    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        CompletableFuture<Flat> waited = next;
        Flat order = waited != null && ahead == epoch ? result(waited) : flat(epoch);
        ahead = epoch + 1;
        next = ahead < epochs ? CompletableFuture.supplyAsync(() -> unchecked(epoch + 1)) : null;
        return order;
    }

    private Flat flat(int epoch) throws InvalidSpecException {
        EpochOrder order = source.epoch(epoch);
        int steps = order.length(0);
        int[] samples = new int[Math.multiplyExact(steps, nodes)];
        for (int step = 0, i = 0; step < steps; step++) {
            for (int rank = 0; rank < nodes; rank++) {
                samples[i++] = order.sample(rank, step);
            }
        }
        return new Flat(samples, nodes);
    }

    private Flat unchecked(int epoch) {
        try {
            return flat(epoch);
        } catch (InvalidSpecException e) {
            throw new CompletionException(e);
        }
    }

    private static Flat result(CompletableFuture<Flat> future) throws InvalidSpecException {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof InvalidSpecException invalid) {
                throw invalid;
            }
            if (e.getCause() instanceof Error error) { // as one that says how to get more memory
                throw error;
            }
            throw e;
        }
    }
}
