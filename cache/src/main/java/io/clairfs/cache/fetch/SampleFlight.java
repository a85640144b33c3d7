package io.clairfs.cache.fetch;

import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A sample that is being fetched, and who waits for it: those who want all of it, and readers of a large one who want the part that they asked for.
 * Thread-safe.
 */
final class SampleFlight {
    private final CompletableFuture<SampleBuffer> promise = new CompletableFuture<>();
    private final long startNs = System.nanoTime();
    private final @Nullable SampleFlight lost;
    private final BooleanSupplier wanted;
    private final List<Waiter> waiters = new ArrayList<>();
    private FetchUrgency urgency;
    private long order;
    private SourceGate.@Nullable Pass pass;
    private @Nullable SampleBuffer arriving;
    private long arrived;
    private boolean ended;

    /**
     * A fetch that begins now.
     *
     * @param lost the one that it takes the place of, whose waiters it serves as well
     * @param wanted whether it is still worth it, for one that nobody waits for
     */
    SampleFlight(@Nullable SampleFlight lost, FetchUrgency urgency, long order, BooleanSupplier wanted) {
        this.lost = lost;
        this.urgency = urgency;
        this.order = order;
        this.wanted = wanted;
    }

    /** Who waits for the bytes before {@code upTo}. */
    private record Waiter(long upTo, CompletableFuture<SampleBuffer> promise) {
        /** With a reference of its own, unless it has given up. */
        void take(SampleBuffer buffer) {
            if (buffer.tryRetain() && !promise.complete(buffer)) {
                buffer.release();
            }
        }
    }

    /** The sample as a whole. */
    CompletableFuture<SampleBuffer> promise() {
        return promise;
    }

    /** Somebody needs it so soon. */
    synchronized void urge(FetchUrgency by, long inOrder) {
        if (by.isMoreUrgentThan(urgency)) {
            urgency = by;
            order = inOrder;
            if (pass != null) {
                pass.urge(by, inOrder);
            }
        }
    }

    /**
     * Completes {@code reader} with the sample, and a reference for whom it is, as soon as it has its bytes before {@code upTo}; the rest must not be touched.
     *
     * @return false when the fetch has just ended
     */
    boolean await(long upTo, CompletableFuture<SampleBuffer> reader) {
        Waiter waiter = new Waiter(upTo, reader);
        SampleBuffer there;
        synchronized (this) {
            if (ended) {
                return false;
            }
            urge(FetchUrgency.READER, 0);
            there = arriving;
            if (there == null || arrived < upTo) {
                waiters.add(waiter);
                return true;
            }
            there = there.tryRetain() ? there : null;
        }
        if (there != null) {
            waiter.take(there);
            there.release();
        }
        return there != null;
    }

    /** It goes to the source for it, into {@code buffer}. */
    synchronized SourceGate.Pass enter(SourceGate gate, SampleBuffer buffer) {
        arriving = buffer;
        arrived = 0;
        pass = gate.enter(buffer.size(), urgency, order, this::arrivedUpTo);
        return pass;
    }

    /** What was fetched so far is given up; another place may have it. */
    synchronized void leave() {
        arriving = null;
        pass = null;
    }

    /** On the thread that fetches, which holds the buffer: nobody is told while the lock is held, for telling a reader takes a while. */
    private void arrivedUpTo(long at) {
        List<Waiter> ready = new ArrayList<>();
        SampleBuffer buffer;
        synchronized (this) {
            arrived = at;
            buffer = arriving;
            for (Iterator<Waiter> each = waiters.iterator(); buffer != null && each.hasNext(); ) {
                Waiter waiter = each.next();
                if (waiter.upTo <= at) {
                    each.remove();
                    ready.add(waiter);
                }
            }
        }
        if (buffer != null) {
            ready.forEach(waiter -> waiter.take(buffer));
        }
    }

    /** Whether a reader waits for it, who may come for it in pieces. */
    synchronized boolean isForReader() {
        return urgency == FetchUrgency.READER;
    }

    /** Whether it fills a tier only, and that tier does not want it any more. */
    synchronized boolean isUnwanted() {
        boolean unwanted = urgency == FetchUrgency.FILLING && !wanted.getAsBoolean();
        ended |= unwanted; // who comes now has to fetch it anew
        return unwanted;
    }

    /** Whether it has taken so long that nobody should wait for it; the wait for its turn is not counted. */
    synchronized boolean isLost(long afterNs) {
        return pass == null ? System.nanoTime() - startNs > afterNs : pass.isLost(afterNs);
    }

    /** It is here. */
    void arrived(SampleBuffer buffer) {
        for (SampleFlight flight = this; flight != null; flight = flight.lost) {
            flight.promise.complete(buffer);
            flight.end().forEach(waiter -> waiter.take(buffer));
        }
    }

    void failed(Throwable reason) {
        for (SampleFlight flight = this; flight != null; flight = flight.lost) {
            flight.promise.completeExceptionally(reason);
            flight.end().forEach(waiter -> waiter.promise.completeExceptionally(reason));
        }
    }

    private synchronized List<Waiter> end() {
        ended = true;
        arriving = null;
        List<Waiter> left = List.copyOf(waiters);
        waiters.clear();
        return left;
    }
}
