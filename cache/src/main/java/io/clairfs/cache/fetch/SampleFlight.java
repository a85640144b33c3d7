package io.clairfs.cache.fetch;

import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One fetch that is under way, and its waiters: those for the whole sample, and readers of a large one that want the part they asked for.
 *
 * <p>Life cycle: {@link FetchRouter} makes it and lists it as under way. The thread that fetches ends it with
 * {@link #arrived(SampleBuffer)} or {@link #failed}. Thread-safe: its lock comes before that of {@link SourceGate}, the only one taken
 * inside it. {@code wanted} is called under it and takes no lock; waiters are completed without it.
 */
final class SampleFlight {
    private final CompletableFuture<SampleBuffer> promise = new CompletableFuture<>();
    private final long startNs = System.nanoTime();
    private final @Nullable SampleFlight lost;
    private final BooleanSupplier wanted;
    private final Runnable onBytes;
    private final List<Waiter> waiters = new ArrayList<>();
    private FetchUrgency urgency;
    private long order;
    private SourceGate.@Nullable Pass pass;
    private @Nullable SampleBuffer arriving;
    private long arrived;
    private boolean hedged;
    private boolean ended;

    /**
     * A fetch that begins now.
     *
     * @param lost the lost flight that it replaces, whose waiters it serves as well
     */
    SampleFlight(@Nullable SampleFlight lost, FetchRequest request) {
        this.lost = lost;
        wanted = request.wanted();
        onBytes = request.onBytes();
        urgency = request.urgency();
        order = request.order();
    }

    /** A reader that waits for the bytes before {@code upTo}; {@code isNear} for one that waits for no source. */
    private record Waiter(long upTo, boolean isNear, CompletableFuture<SampleBuffer> promise) {
        /** Hands the buffer over with a reference, unless the reader has given up. */
        void take(SampleBuffer buffer) {
            if (buffer.tryRetain() && !promise.complete(buffer)) {
                buffer.release();
            }
        }
    }

    /** Completes with the whole sample, without a reference for the waiter. */
    CompletableFuture<SampleBuffer> promise() {
        return promise;
    }

    /** Makes the flight as urgent as this, if it is less urgent. */
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
     * Completes {@code reader} with the sample, and a reference for the reader, as soon as its bytes before {@code upTo} are there. The
     * reader must not touch the rest.
     *
     * @return false when the flight has just ended
     */
    boolean await(long upTo, CompletableFuture<SampleBuffer> reader) {
        return await(new Waiter(upTo, false, reader));
    }

    /** The same, but {@code reader} fails with {@link UnwantedException} when the flight goes to the source after it has begun to wait. */
    boolean awaitNear(long upTo, CompletableFuture<SampleBuffer> reader) {
        return await(new Waiter(upTo, true, reader));
    }

    private boolean await(Waiter waiter) {
        SampleBuffer there;
        synchronized (this) {
            if (ended) {
                return false;
            }
            urge(FetchUrgency.READER, 0);
            there = arriving;
            if (there == null || arrived < waiter.upTo) {
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

    /** How many bytes the source has still to give before those up to {@code upTo} are there; 0 where another place gives all at once. */
    synchronized long missingAtSource(long upTo) {
        return pass == null ? 0 : Math.max(0, upTo - arrived);
    }

    /** How many bytes of its file the source has given; 0 where another place gives the sample whole. */
    synchronized long givenBySource() {
        return pass == null ? 0 : pass.given();
    }

    /** Goes to the source for {@code bytes}. */
    SourceGate.Pass enter(SourceGate gate, long bytes) {
        SourceGate.Pass entered;
        List<Waiter> near;
        synchronized (this) {
            arrived = 0;
            entered = gate.enter(bytes, urgency, order, at -> arrivedUpTo(at, gate));
            pass = entered;
            near = takeThat(Waiter::isNear);
        }
        for (SampleFlight other = lost; other != null; other = other.lost) {
            near.addAll(other.takeNear());
        }
        near.forEach(waiter -> waiter.promise.completeExceptionally(new UnwantedException()));
        return entered;
    }

    /** The source fills this buffer. */
    synchronized void arrivesIn(SampleBuffer buffer) {
        arriving = buffer;
    }

    /** Goes to the source for {@code bytes} of which a view makes {@code madeBytes}. Nobody gets any before all are made. */
    synchronized SourceGate.Pass enterForView(SourceGate gate, long bytes, long madeBytes) {
        pass = gate.enterForView(bytes, madeBytes, urgency, order);
        return pass;
    }

    /** The source has given all bytes. */
    void bytesArrived() {
        onBytes.run();
    }

    /** Gives up what was fetched so far; another place may have the sample. */
    synchronized void leave() {
        arriving = null;
        pass = null;
    }

    /** Called by the thread that fetches, which holds the buffer. Readers are told without the lock, for telling one takes a while, and while more is to come, elsewhere. */
    private void arrivedUpTo(long at, SourceGate gate) {
        List<Waiter> ready;
        SampleBuffer buffer;
        synchronized (this) {
            arrived = at;
            buffer = arriving;
            ready = buffer == null ? List.of() : takeThat(waiter -> waiter.upTo <= at);
        }
        if (buffer == null || ready.isEmpty()) {
            return;
        }
        if (at == buffer.size() || !buffer.tryRetain()) {
            ready.forEach(waiter -> waiter.take(buffer));
            return;
        }
        gate.answer(() -> {
            try {
                ready.forEach(waiter -> waiter.take(buffer));
            } finally {
                buffer.release();
            }
        });
    }

    private synchronized List<Waiter> takeNear() {
        return takeThat(Waiter::isNear);
    }

    /** Takes these waiters out; the caller holds the lock. */
    private List<Waiter> takeThat(Predicate<Waiter> isTaken) {
        List<Waiter> taken = new ArrayList<>();
        for (Iterator<Waiter> each = waiters.iterator(); each.hasNext(); ) {
            Waiter waiter = each.next();
            if (isTaken.test(waiter)) {
                each.remove();
                taken.add(waiter);
            }
        }
        return taken;
    }

    /** Whether a reader waits for it, and may come for it in pieces. */
    synchronized boolean isForReader() {
        return urgency == FetchUrgency.READER;
    }

    /** Whether it only fills a tier that no longer wants the sample, and replaces none that others may wait for. */
    synchronized boolean isUnwanted() {
        boolean unwanted = urgency == FetchUrgency.FILLING && lost == null && !wanted.getAsBoolean();
        ended |= unwanted; // a reader that comes now has to fetch anew
        return unwanted;
    }

    /** Whether the source gives it, or will when its turn comes: it waits for no peer. */
    synchronized boolean isAtSource() {
        return pass != null;
    }

    /** For how long it has been under way. */
    long ageNs() {
        return System.nanoTime() - startNs;
    }

    /** Whether it replaces one that is lost. */
    boolean replacesLost() {
        return lost != null;
    }

    /** Whether to ask another place as well, for those who wait; true for one caller. */
    synchronized boolean hedge() {
        boolean first = !hedged && !ended;
        hedged = true;
        return first;
    }

    /** Whether another place was asked as well. */
    synchronized boolean isHedged() {
        return hedged;
    }

    /** Another place has given the sample: those who wait have it. The flight goes on. */
    void serve(SampleBuffer buffer) {
        List<Waiter> waiting;
        synchronized (this) {
            waiting = List.copyOf(waiters);
            waiters.clear();
        }
        waiting.forEach(waiter -> waiter.take(buffer));
    }

    /** Whether it has taken longer than {@code afterNs}; the wait for its turn at the source does not count. */
    synchronized boolean isLost(long afterNs) {
        return pass == null ? System.nanoTime() - startNs > afterNs : pass.isLost(afterNs);
    }

    /** Ends the flight: the sample is here. */
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

    /**
     * Ends the flight unless readers wait for it, other than {@linkplain #awaitNear those of near places}. Returns whether it has ended: the caller then lets it {@linkplain #failed fail}
     * by an {@link UnwantedException}, and who waits for the whole sample fetches anew.
     */
    synchronized boolean giveUpUnlessAwaited() {
        boolean isGivenUp = waiters.stream().allMatch(Waiter::isNear);
        ended |= isGivenUp;
        return isGivenUp;
    }

    private synchronized List<Waiter> end() {
        ended = true;
        arriving = null;
        List<Waiter> left = List.copyOf(waiters);
        waiters.clear();
        return left;
    }
}
