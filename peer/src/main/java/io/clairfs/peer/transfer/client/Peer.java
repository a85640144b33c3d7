package io.clairfs.peer.transfer.client;

import io.clairfs.peer.transfer.TransferLimits;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Another node that can be asked for samples, by one {@link Rail} or more.
 *
 * <p>Callers put requests into a queue, from which the rails take them. A single request goes to the rail that seems to bring it soonest; where
 * one rail's window is full, the others take what is left. So requests that come close together travel together, and a single one does not wait
 * for others. What a lost rail owed, another one is asked for, as long as its deadline allows.
 *
 * <p>Life cycle: {@link TransferClient} makes it when it is first asked for the addresses, and closes it when the node has left or with itself.
 * There is no lock: what callers and rails touch is concurrent. {@link #ask} never blocks. {@link #fetch} and {@link #close} wait for event
 * loops, so they are never called on one.
 */
public final class Peer {
    private static final int NOTICE_MOST_MS = 1_000;

    private final List<Rail> rails;
    private final TransferLimits limits;
    private final FetchCounters counters;
    private final FairShare share;
    private final WaitingFlights waiting = new WaitingFlights();
    private final AtomicInteger outstanding = new AtomicInteger();
    private volatile boolean closed;

    /**
     * A peer.
     *
     * @param addresses where it can be reached, a rail each; one at least
     * @param from the address here for each of the first rails; the system chooses for the others
     */
    Peer(List<InetSocketAddress> addresses, List<InetAddress> from, Rail.Means means) {
        limits = means.limits();
        counters = means.counters();
        share = means.share();
        AsOwner owner = new AsOwner();
        List<Rail> made = new ArrayList<>();
        boolean several = addresses.size() > 1;
        for (int i = 0; i < addresses.size(); i++) {
            InetAddress here = i < from.size() ? from.get(i) : null;
            EventLoop loop = several ? means.threads().of(i) : means.threads().next();
            made.add(new Rail(owner, addresses.get(i), here, several, loop, means));
        }
        rails = List.copyOf(made);
    }

    /**
     * Asks for a sample. The future is always completed, with a failure at the latest some 10 ms after the deadline, and
     * normally on an event loop, so what depends on it must not block. Cancelling it cancels the request.
     *
     * @param sample its ordinal in the dataset
     * @param expectedBytes its size as this node knows it
     * @param deadlineNs on the clock of {@link System#nanoTime()}
     */
    public CompletableFuture<Answer> ask(int sample, long expectedBytes, long deadlineNs) {
        return ask(sample, expectedBytes, deadlineNs, Flight.First.NOTHING);
    }

    /**
     * Asks the sample's home, which is not known to have it and then fetches it from the source; as {@link #ask}. Until that is done it takes nothing of the
     * window, so it holds up none of the samples that the peer has.
     */
    public CompletableFuture<Answer> askHome(int sample, long expectedBytes, long deadlineNs) {
        return ask(sample, expectedBytes, deadlineNs, Flight.First.FETCH);
    }

    /**
     * Asks the peer to make a sample by its view if it does not have it; as {@link #ask}. To be called for peers that have announced that they
     * make samples.
     */
    public CompletableFuture<Answer> askToMake(int sample, long expectedBytes, long deadlineNs) {
        return ask(sample, expectedBytes, deadlineNs, Flight.First.MAKE);
    }

    private CompletableFuture<Answer> ask(int sample, long expectedBytes, long deadlineNs, Flight.First first) {
        counters.requests.increment();
        if (expectedBytes < 0 || expectedBytes > limits.largestSampleBytes()) {
            return failed("a sample of " + expectedBytes + " bytes is not transferred");
        }
        if (closed) {
            return failed("closed");
        }
        if (!mayAsk(System.nanoTime())) {
            Rail rail = first();
            return failed("left alone for another " + rail.backOff().remainingMs(System.nanoTime())
                    + " ms, and until one request has tried it: " + rail.lastFailure());
        }
        int before = outstanding.getAndIncrement();
        if (before == 0) {
            share.begin(rails.size());
        }
        if (before >= limits.counts().requestsPerPeer()) {
            retire();
            return failed("more than " + limits.counts().requestsPerPeer() + " requests wait for it");
        }
        Flight flight = new Flight(sample, expectedBytes, deadlineNs, first);
        waiting.add(flight);
        if (!wake(expectedBytes)) {
            counters.failed.increment();
            flight.settle(new Answer.Failed("closed"));
        }
        return flight.promise();
    }

    /** Whether a rail may be used. After a failure of all, and the rest, one caller may. */
    private boolean mayAsk(long nowNs) {
        for (Rail rail : rails) {
            if (rail.backOff().isTrusted()) {
                return true;
            }
        }
        for (Rail rail : rails) {
            if (rail.backOff().mayAsk(nowNs)) {
                return true;
            }
        }
        return false;
    }

    /** The rail whose answer is first of all when none is better than another. */
    private Rail first() {
        return rails.getFirst();
    }

    /**
     * Wakes the connected rail that seems to bring so many bytes soonest, and those that may connect. Returns false when the threads have ended.
     */
    private boolean wake(long bytes) {
        long now = System.nanoTime();
        Rail soonest = null;
        boolean woken = false;
        boolean live = true;
        for (Rail rail : rails) {
            if (rail.isConnected()) {
                if (soonest == null || rail.seconds(bytes) < soonest.seconds(bytes)) {
                    soonest = rail;
                }
            } else if (!rail.backOff().isResting(now)) {
                live &= rail.wake();
                woken = true;
            }
        }
        if (soonest != null) {
            live &= soonest.wake();
        } else if (!woken) {
            live &= first().wake(); // it fails what waits, for all rest
        }
        return live;
    }

    /** Connects, if it is not connected and not left alone, so that the first request need not wait for that. Never waits. */
    public void connectEarly() {
        rails.forEach(Rail::connectEarly);
    }

    /** As {@link #askToMake}, and waits as {@link #fetch}. */
    public Answer make(int sample, long expectedBytes, long deadlineNs) {
        return await(askToMake(sample, expectedBytes, deadlineNs), deadlineNs);
    }

    /** As {@link #ask}, and waits for the answer: until the deadline and hardly longer. An interrupt gives the request up. */
    public Answer fetch(int sample, long expectedBytes, long deadlineNs) {
        return await(ask(sample, expectedBytes, deadlineNs), deadlineNs);
    }

    /** As {@link #askHome}, and waits as {@link #fetch}. */
    public Answer fetchFromHome(int sample, long expectedBytes, long deadlineNs) {
        return await(askHome(sample, expectedBytes, deadlineNs), deadlineNs);
    }

    private static Answer await(CompletableFuture<Answer> promise, long deadlineNs) {
        try {
            long waitNs = deadlineNs - System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(NOTICE_MOST_MS);
            return promise.get(Math.max(1, waitNs), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return given(promise, "interrupted");
        } catch (java.util.concurrent.TimeoutException e) {
            return given(promise, "no answer by the deadline");
        } catch (ExecutionException e) {
            throw new AssertionError("requests end in answers, not in exceptions", e);
        }
    }

    /** Gives a request up; an answer that came at the same moment counts. */
    private static Answer given(CompletableFuture<Answer> promise, String reason) {
        Answer failed = new Answer.Failed(reason);
        return promise.complete(failed) ? failed : promise.join();
    }

    private CompletableFuture<Answer> failed(String reason) {
        counters.failed.increment();
        return CompletableFuture.completedFuture(new Answer.Failed(reason));
    }

    /** Whether all its rails failed and it is not asked now: for a while, and then until one request has tried it. */
    public boolean isLeftAlone() {
        long now = System.nanoTime();
        for (Rail rail : rails) {
            if (!rail.backOff().isLeftAlone(now)) {
                return false;
            }
        }
        return true;
    }

    /** Why it is left alone; null if it is not. */
    public @Nullable String trouble() {
        return isLeftAlone() ? first().lastFailure() : null;
    }

    /** The address of its first rail. */
    public InetSocketAddress address() {
        return first().address();
    }

    /** How many bytes it may owe at a time, as far as was measured; approximate while requests are under way. */
    public long windowBytes() {
        long sum = 0;
        for (Rail rail : rails) {
            if (rail.isConnected()) {
                sum += rail.figures().windowBytes();
            }
        }
        return sum == 0 ? limits.windows().startBytes() : sum;
    }

    /** Its present state; approximate while requests are under way. */
    public PeerFigures figures() {
        List<RailFigures> all = rails.stream().map(Rail::figures).toList();
        return new PeerFigures(
                all.stream()
                        .mapToLong(RailFigures::delayNs)
                        .filter(delayNs -> delayNs != 0)
                        .min()
                        .orElse(0),
                all.stream().mapToLong(RailFigures::bytesPerSecond).sum(),
                windowBytes(),
                all.stream().mapToLong(RailFigures::inFlightBytes).sum(),
                outstanding.get(),
                all.stream().anyMatch(RailFigures::connected),
                isLeftAlone(),
                all);
    }

    /** What rails tell their peer. */
    private final class AsOwner implements Rail.Owner {
        @Override
        public WaitingFlights waiting() {
            return waiting;
        }

        @Override
        public boolean isIdle() {
            return outstanding.get() == 0;
        }

        @Override
        public boolean isClosed() {
            return closed;
        }

        @Override
        public void hasMore(Rail from) {
            Flight next = waiting.peek();
            for (Rail rail : rails) {
                if (next != null && !Objects.equals(rail, from) && rail.takes(next)) {
                    rail.wake(); // only for what it takes, or two rails would wake each other for what neither does
                }
            }
        }

        @Override
        public void expireWaiting(long nowNs) {
            for (Flight flight : waiting.takeOver(nowNs)) {
                counters.failed.increment();
                if (flight.isOverdue(nowNs)) {
                    counters.expired.increment();
                }
                flight.settle(new Answer.Failed("no room to ask before the deadline"));
                retire();
            }
        }

        @Override
        public List<Flight> stranded(Rail rail) {
            return closed || !hasOther(rail) ? waiting.takeAll() : List.of();
        }

        @Override
        public void fail(List<Flight> stranded, String reason) {
            for (Flight flight : stranded) {
                counters.failed.increment();
                flight.settle(new Answer.Failed(reason));
                retire();
            }
            if (!waiting.isEmpty()) {
                wake(0);
            }
        }

        @Override
        public boolean takesBack(Rail from, Flight unanswered) {
            if (closed || unanswered.promise().isDone() || unanswered.isOverdue(System.nanoTime()) || !hasOther(from)) {
                return false;
            }
            counters.moved.increment();
            waiting.putBack(unanswered);
            wake(unanswered.bytes());
            return true;
        }

        /** Whether there is another rail that is connected, or may connect. */
        private boolean hasOther(Rail than) {
            long now = System.nanoTime();
            for (Rail rail : rails) {
                if (!Objects.equals(rail, than) && !rail.backOff().isResting(now)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void retired() {
            retire();
        }
    }

    private void retire() {
        if (outstanding.decrementAndGet() == 0) {
            share.end(rails.size());
        }
    }

    /** Ends the connections; all outstanding requests fail, when this returns or some 10 ms later. Not to be called on an event loop. */
    void close() {
        for (Future<?> ended : end()) {
            ended.awaitUninterruptibly(NOTICE_MOST_MS);
        }
    }

    /** Begins to end the connections and waits for nothing. Returns those ends that are under way. */
    List<Future<?>> end() {
        closed = true;
        List<Future<?>> ends = new ArrayList<>();
        for (Rail rail : rails) {
            Future<?> end = rail.end();
            if (end != null) {
                ends.add(end);
            }
        }
        return ends;
    }
}
