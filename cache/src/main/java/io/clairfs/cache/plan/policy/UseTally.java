package io.clairfs.cache.plan.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Walks the orders of all jobs and fills a {@link UseTable}.
 *
 * <p>The first epochs of all jobs come first, then their second ones, and so on; within an epoch, the first steps of all ranks come first.
 * That is the order in which samples count as first used. A second thread computes the next order meanwhile; the tally and its order do not
 * depend on it.
 */
public final class UseTally {
    private final PlanRequest request;
    private final PlanLimits limits;

    /** Filled beside the table where there is a choice that depends on it. */
    private @Nullable ReaderLog readers;

    public UseTally(PlanRequest request, PlanLimits limits) {
        this.request = request;
        this.limits = limits;
    }

    /** One epoch of one job, which counts {@code times} times. */
    private record Pass(Need need, int epoch, int times) {
        EpochOrder order() throws InvalidSpecException {
            return need.orders().epoch(epoch);
        }
    }

    /** The uses of all jobs, up to the limits. */
    public UseTable tally() throws InvalidSpecException {
        readers = ReaderLog.isOfUse(request) ? ReaderLog.of(request) : null;
        double expected = expectedUses();
        int samples = Math.max(1, request.samples());
        UseTable table = UseTable.create(
                request.samples(), request.nodes().size(), expected / samples, limits.tableBytesPerSample());
        long most = Math.min(limits.mostUses(), table.mostUsesPerSample() * samples);
        Iterator<Pass> passes = passes().iterator();
        if (limits.threads() == 1) {
            for (long uses = 0; uses < most && passes.hasNext(); ) {
                Pass pass = passes.next();
                uses += add(pass, pass.order(), table);
            }
            return table;
        }
        try (ExecutorService second = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("plan-order").factory())) {
            Future<EpochOrder> next = null;
            Pass pass = passes.hasNext() ? passes.next() : null;
            for (long uses = 0; uses < most && pass != null; ) {
                EpochOrder order = next == null ? pass.order() : result(next);
                Pass following = passes.hasNext() ? passes.next() : null;
                next = following == null ? null : second.submit(following::order);
                uses += add(pass, order, table);
                pass = following;
            }
        }
        return table;
    }

    private static EpochOrder result(Future<EpochOrder> future) throws InvalidSpecException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true; // goes on: a plan is bounded work, and its caller may give up the whole
                } catch (ExecutionException e) {
                    throw unwrapped(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether, in the epochs that {@link #tally} has walked, clearly less is read from elsewhere if samples move with their readers. */
    public boolean shouldMove(Homes homes, Rooms rooms) {
        return readers != null && RemoteReads.areFewerIfSamplesMove(request, readers, homes, rooms);
    }

    private static InvalidSpecException unwrapped(@Nullable Throwable cause) {
        return switch (cause) {
            case InvalidSpecException invalid -> invalid;
            case RuntimeException bug -> throw bug;
            case Error error -> throw error;
            case null, default -> throw new AssertionError(cause);
        };
    }

    private List<Pass> passes() {
        List<Pass> passes = new ArrayList<>();
        for (int after = 0; after < limits.mostEpochs(); after++) {
            for (Need need : request.needs()) {
                boolean same = need.sameInEveryEpoch();
                if (after < (same ? Math.min(1, limits.epochs(need)) : limits.epochs(need))) {
                    passes.add(new Pass(need, need.firstEpoch() + after, same ? limits.epochs(need) : 1));
                }
            }
        }
        return passes;
    }

    /** Estimated from the length of each job's first epoch. */
    private double expectedUses() throws InvalidSpecException {
        double uses = 0;
        for (Need need : request.needs()) {
            if (limits.epochs(need) > 0) {
                EpochOrder order = need.orders().epoch(need.firstEpoch());
                for (int rank = 0; rank < need.nodeOfRank().length; rank++) {
                    if (need.nodeOfRank()[rank] >= 0) {
                        uses += (double) limits.epochs(need) * order.length(rank);
                    }
                }
            }
        }
        return uses;
    }

    private long add(Pass pass, EpochOrder order, UseTable table) {
        Need need = pass.need;
        int[] nodeOfRank = need.nodeOfRank();
        IntUnaryOperator sampleOf = need.sampleOf();
        int[] lengths = new int[nodeOfRank.length];
        int longest = 0;
        long uses = 0;
        for (int rank = 0; rank < lengths.length; rank++) {
            lengths[rank] = nodeOfRank[rank] < 0 ? 0 : order.length(rank);
            longest = Math.max(longest, lengths[rank]);
            uses += lengths[rank];
        }
        ReaderLog log = readers;
        if (log != null) {
            log.begin();
        }
        for (int step = 0; step < longest; step++) {
            for (int rank = 0; rank < lengths.length; rank++) {
                if (step < lengths[rank]) {
                    int sample = sampleOf.applyAsInt(order.sample(rank, step));
                    for (int time = 0; sample >= 0 && time < pass.times; time++) {
                        table.add(sample, nodeOfRank[rank]);
                    }
                    if (log != null && sample >= 0) {
                        log.read(sample, nodeOfRank[rank]);
                    }
                }
            }
        }
        return uses;
    }
}
