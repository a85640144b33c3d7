package io.clairfs.peer.transfer.client;

import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Another node that can be asked for samples.
 *
 * <p>Callers put requests into a queue. The peer's event loop takes all that are there at once and sends them in one frame, as
 * far as its window allows, and looks again after every batch of answers. So requests that come close together travel
 * together, and a single one does not wait for others.
 *
 * <p>Life cycle: {@link TransferClient} makes it when it is first asked for the address, and closes it when the node has left or with itself. The
 * first request connects; after a loss {@link BackOff} decides when another one connects again. There is no lock: the state of connection and
 * waiting requests belongs to one event loop, and what callers touch is concurrent. {@link #ask} never blocks. {@link #fetch} and {@link #close}
 * wait for the event loop, so they are never called on one.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
public final class Peer {
    private static final Logger LOG = System.getLogger(Peer.class.getName());
    private static final int TICK_MS = 10;
    private static final int NOTICE_MOST_MS = 1_000;

    private final InetSocketAddress address;
    private final Credentials credentials;
    private final TransferLimits limits;
    private final TransferThreads threads;
    private final FetchCounters counters;
    private final FairShare share;
    private final EventLoop loop;
    private final BackOff backOff;

    private final ConcurrentLinkedQueue<Flight> asked = new ConcurrentLinkedQueue<>();
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicBoolean drainDue = new AtomicBoolean();
    private volatile String lastFailure = "";
    private volatile boolean closed;

    // On the event loop only, except for reading figures.
    private final ArrayDeque<Flight> waiting = new ArrayDeque<>();
    private volatile @Nullable PeerConnection connection;
    private @Nullable Channel channel;
    private @Nullable Future<?> tick;

    Peer(
            InetSocketAddress address,
            Credentials credentials,
            TransferLimits limits,
            TransferThreads threads,
            FetchCounters counters,
            FairShare share) {
        this.address = address;
        this.credentials = credentials;
        this.limits = limits;
        this.threads = threads;
        this.counters = counters;
        this.share = share;
        loop = threads.next();
        TransferLimits.Times times = limits.times();
        backOff = new BackOff(times.backOffLeastMs(), times.backOffMostMs(), times.connectMs() + times.handshakeMs());
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
        return ask(sample, expectedBytes, deadlineNs, false);
    }

    /**
     * Asks the peer to make a sample by its view if it does not have it; as {@link #ask}. To be called for peers that have announced that they
     * make samples.
     */
    public CompletableFuture<Answer> askToMake(int sample, long expectedBytes, long deadlineNs) {
        return ask(sample, expectedBytes, deadlineNs, true);
    }

    private CompletableFuture<Answer> ask(int sample, long expectedBytes, long deadlineNs, boolean toMake) {
        counters.requests.increment();
        if (expectedBytes < 0 || expectedBytes > limits.largestSampleBytes()) {
            return failed("a sample of " + expectedBytes + " bytes is not transferred");
        }
        if (closed) {
            return failed("closed");
        }
        if (!backOff.mayAsk(System.nanoTime())) {
            return failed("left alone for another " + backOff.remainingMs(System.nanoTime())
                    + " ms, and until one request has tried it: " + lastFailure);
        }
        int before = outstanding.getAndIncrement();
        if (before == 0) {
            share.begin();
        }
        if (before >= limits.counts().requestsPerPeer()) {
            retire();
            return failed("more than " + limits.counts().requestsPerPeer() + " requests wait for it");
        }
        Flight flight = new Flight(sample, expectedBytes, deadlineNs, toMake);
        asked.add(flight);
        if (drainDue.compareAndSet(false, true)) {
            try {
                loop.execute(this::drain);
            } catch (RejectedExecutionException e) {
                counters.failed.increment();
                flight.settle(new Answer.Failed("closed"));
            }
        }
        return flight.promise();
    }

    /** Connects, if it is not connected and not left alone, so that the first request need not wait for that. Never waits. */
    public void connectEarly() {
        try {
            loop.execute(() -> {
                if (connection == null && !closed && !backOff.isResting(System.nanoTime())) {
                    connect();
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.log(Level.DEBUG, "not connected: closed", e);
        }
    }

    /** As {@link #askToMake}, and waits as {@link #fetch}. */
    public Answer make(int sample, long expectedBytes, long deadlineNs) {
        return await(askToMake(sample, expectedBytes, deadlineNs), deadlineNs);
    }

    /** As {@link #ask}, and waits for the answer: until the deadline and hardly longer. An interrupt gives the request up. */
    public Answer fetch(int sample, long expectedBytes, long deadlineNs) {
        return await(ask(sample, expectedBytes, deadlineNs), deadlineNs);
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

    /** Whether it failed and is not asked now: for a while, and then until one request has tried it. */
    public boolean isLeftAlone() {
        return backOff.isLeftAlone(System.nanoTime());
    }

    /** Why it is left alone; null if it is not. */
    public @Nullable String trouble() {
        return isLeftAlone() ? lastFailure : null;
    }

    public InetSocketAddress address() {
        return address;
    }

    /** How many bytes it may owe at a time, as far as was measured; approximate while requests are under way. */
    public long windowBytes() {
        PeerConnection current = connection;
        return current == null ? limits.windows().startBytes() : current.windowBytes();
    }

    /** Its present state; approximate while requests are under way. */
    public PeerFigures figures() {
        PeerConnection current = connection;
        boolean connected = current != null && current.isReady();
        return new PeerFigures(
                current == null ? 0 : current.window().delayNs(),
                current == null ? 0 : current.window().bytesPerSecond(),
                windowBytes(),
                current == null ? 0 : current.inFlightBytes(),
                outstanding.get(),
                connected,
                isLeftAlone());
    }

    private void drain() {
        drainDue.set(false);
        for (Flight flight = asked.poll(); flight != null; flight = asked.poll()) {
            waiting.add(flight);
        }
        if (tick == null && !closed) {
            tick = loop.scheduleWithFixedDelay(this::expire, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
        }
        pump();
    }

    private void pump() {
        if (waiting.isEmpty()) {
            return;
        }
        PeerConnection current = connection;
        if (closed) {
            failWaiting("closed");
        } else if (current != null) {
            current.send(waiting, System.nanoTime());
        } else if (backOff.isResting(System.nanoTime())) {
            failWaiting(lastFailure);
        } else {
            connect();
        }
    }

    private void connect() {
        Use use = new Use();
        PeerConnection opening = new PeerConnection(use, limits, counters, share);
        use.opened = opening;
        connection = opening;
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(threads.clientChannel())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, limits.times().connectMs())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        if (credentials.tls() != null) {
                            opened.pipeline()
                                    .addLast(credentials
                                            .tls()
                                            .clientHandler(
                                                    opened, limits.times().handshakeMs()));
                        }
                        opened.pipeline()
                                .addLast(new ClientHandshake(
                                        credentials, limits.times().handshakeMs(), use));
                    }
                });
        if (credentials.tls() == null) {
            bootstrap.option(ChannelOption.RECVBUF_ALLOCATOR, new IntoSamples(opening::target));
        }
        ChannelFuture connecting = bootstrap.connect(address);
        channel = connecting.channel();
        connecting.addListener(_ -> {
            if (!connecting.isSuccess()) {
                opening.lose("no connection: " + connecting.cause().getMessage());
            }
        });
    }

    /** One connection as this peer uses it, from the first attempt to its end. */
    private final class Use implements PeerConnection.Owner, ClientHandshake.Outcome {
        private @Nullable PeerConnection opened;

        @Override
        public void accepted(ChannelHandlerContext context) {
            if (opened != null) {
                counters.connections.increment();
                backOff.lives(); // a stopped peer's kernel accepts connections too, but shakes no hands
                context.pipeline().addLast(opened);
                pump();
            }
        }

        @Override
        public void refused(String reason) {
            if (opened != null) {
                opened.lose(reason);
            }
        }

        @Override
        public void roomAgain() {
            pump();
        }

        @Override
        public void wentWell() {
            backOff.succeeded();
        }

        @Override
        public void retired() {
            retire();
        }

        @Override
        public void lost(String reason) {
            connection = null;
            channel = null;
            lastFailure = reason;
            if (!closed) {
                backOff.failed(System.nanoTime());
                counters.leftAlone.increment();
                LOG.log(
                        Level.WARNING,
                        "peer " + address + " is left alone for " + backOff.remainingMs(System.nanoTime()) + " ms: "
                                + reason);
            }
            failWaiting(reason);
        }
    }

    private void failWaiting(String reason) {
        for (Flight flight = waiting.poll(); flight != null; flight = waiting.poll()) {
            counters.failed.increment();
            flight.settle(new Answer.Failed(reason));
            retire();
        }
    }

    private void retire() {
        if (outstanding.decrementAndGet() == 0) {
            share.end();
        }
    }

    private void expire() {
        long now = System.nanoTime();
        waiting.removeIf(flight -> {
            boolean over = flight.promise().isDone() || flight.isOverdue(now);
            if (over) {
                counters.failed.increment();
                if (flight.isOverdue(now)) {
                    counters.expired.increment();
                }
                flight.settle(new Answer.Failed("no room to ask before the deadline"));
                retire();
            }
            return over;
        });
        PeerConnection current = connection;
        if (current != null) {
            current.expire(now);
        }
        if (outstanding.get() == 0 && tick != null) {
            tick.cancel(false);
            tick = null;
        }
    }

    /** Ends the connection; all outstanding requests fail, when this returns or some 10 ms later. Not to be called on an event loop. */
    void close() {
        Future<?> ended = end();
        if (ended != null) {
            ended.awaitUninterruptibly(NOTICE_MOST_MS);
        }
    }

    /** Begins to end the connection and waits for nothing. Returns null when the threads have ended already. */
    @Nullable
    Future<?> end() {
        closed = true;
        try {
            return loop.submit(this::endOnLoop);
        } catch (RejectedExecutionException threadsEnded) {
            LOG.log(Level.DEBUG, "closed after its threads", threadsEnded);
            return null;
        }
    }

    private void endOnLoop() {
        if (tick != null) {
            tick.cancel(false);
            tick = null;
        }
        Channel open = channel;
        PeerConnection current = connection;
        if (current != null) {
            current.lose("closed");
        }
        if (open != null) {
            open.close();
        }
        drain();
    }
}
