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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * One path to a peer, between one address here and one there: KSpeed's rail (ICNP'24, section III-D), where each network card has its own.
 *
 * <p>It takes requests from those that wait for the peer, as far as its window allows, sends all that it takes at once in one frame, and looks
 * again after every batch of answers. So a rail takes as much of the requests as it carries of the bytes.
 *
 * <p>Life cycle: {@link Peer} makes its rails and ends them. The first request connects; after a loss {@link BackOff} decides when another one
 * connects again. There is no lock: the connection belongs to one event loop, and all that is called from other threads is concurrent.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
final class Rail {
    private static final Logger LOG = System.getLogger(Rail.class.getName());
    private static final int TICK_MS = 10;

    /** The peer, as its rails use it. Called on their event loops. */
    interface Owner {
        WaitingFlights waiting();

        /** Whether nothing waits or is in flight, on any rail. */
        boolean isIdle();

        boolean isClosed();

        /** A rail has taken what it can, and more waits. */
        void hasMore(Rail from);

        /** Fails what is overdue, and what no caller waits for. */
        void expireWaiting(long nowNs);

        /** A rail cannot be used now: takes out what waits, if none can. */
        List<Flight> stranded(Rail rail);

        /** Fails these, and has another rail look at what still waits. */
        void fail(List<Flight> stranded, String reason);

        /** A rail was lost with this request in flight. Returns whether it waits again, for another rail. */
        boolean takesBack(Rail from, Flight unanswered);

        /** A request is no longer known here. */
        void retired();
    }

    /** What all rails of a client share. */
    record Means(
            Credentials credentials,
            TransferLimits limits,
            TransferThreads threads,
            FetchCounters counters,
            FairShare share) {}

    private final Owner owner;
    private final InetSocketAddress address;
    private final @Nullable InetAddress from;
    private final boolean hasOthers;
    private final Means means;
    private final EventLoop loop;
    private final BackOff backOff;
    private final LongAdder gotBytes = new LongAdder();
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile String lastFailure = "";

    // On the event loop only, except for reading figures.
    private volatile @Nullable PeerConnection connection;
    private @Nullable Channel channel;
    private @Nullable Future<?> tick;

    /**
     * A rail.
     *
     * @param from the address here; null for whichever the system takes
     * @param hasOthers whether there are other rails to the peer, so that this one is watched closely
     */
    Rail(
            Owner owner,
            InetSocketAddress address,
            @Nullable InetAddress from,
            boolean hasOthers,
            EventLoop loop,
            Means means) {
        this.owner = owner;
        this.address = address;
        this.from = from;
        this.hasOthers = hasOthers;
        this.means = means;
        this.loop = loop;
        TransferLimits.Times times = means.limits().times();
        backOff = new BackOff(times.backOffLeastMs(), times.backOffMostMs(), times.connectMs() + times.handshakeMs());
    }

    InetSocketAddress address() {
        return address;
    }

    BackOff backOff() {
        return backOff;
    }

    String lastFailure() {
        return lastFailure;
    }

    boolean isConnected() {
        PeerConnection current = connection;
        return current != null && current.isReady();
    }

    /** Whether it would send this request now, as far as other threads can see. */
    boolean takes(Flight flight) {
        PeerConnection current = connection;
        return current != null && current.isReady() && current.takes(flight);
    }

    /** Seconds until so many bytes would be here, by what was measured; 0 while nothing was. */
    double seconds(long bytes) {
        PeerConnection current = connection;
        double rate = current == null ? 0 : current.window().bytesPerSecond();
        return current == null || rate == 0
                ? 0
                : current.window().delayNs() / 1e9 + (current.inFlightBytes() + bytes) / rate;
    }

    /** Has it look at what waits, soon. Returns false when the threads have ended. Never waits. */
    boolean wake() {
        if (woken.compareAndSet(false, true)) {
            try {
                loop.execute(this::look);
            } catch (RejectedExecutionException threadsEnded) {
                LOG.log(Level.DEBUG, "closed after its threads", threadsEnded);
                woken.set(false);
                return false;
            }
        }
        return true;
    }

    /** Connects, if it is not connected and not left alone. Never waits. */
    void connectEarly() {
        try {
            loop.execute(() -> {
                if (connection == null && !owner.isClosed() && !backOff.isResting(System.nanoTime())) {
                    connect();
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.log(Level.DEBUG, "not connected: closed", e);
        }
    }

    RailFigures figures() {
        PeerConnection current = connection;
        return new RailFigures(
                address,
                current == null ? 0 : current.window().delayNs(),
                current == null ? 0 : current.window().bytesPerSecond(),
                current == null ? means.limits().windows().startBytes() : current.windowBytes(),
                current == null ? 0 : current.inFlightBytes(),
                gotBytes.sum(),
                current != null && current.isReady(),
                backOff.isLeftAlone(System.nanoTime()));
    }

    private void look() {
        woken.set(false);
        take();
    }

    /** Takes what waits. What it has taken is looked after from then on, whoever has called this. */
    private void take() {
        if (owner.waiting().isEmpty()) {
            return;
        }
        if (tick == null && !owner.isClosed()) {
            tick = loop.scheduleWithFixedDelay(this::expireAndGoOn, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
        }
        PeerConnection current = connection;
        if (owner.isClosed()) {
            owner.fail(owner.stranded(this), "closed");
        } else if (current != null) {
            current.send(owner.waiting(), System.nanoTime());
            if (!owner.waiting().isEmpty()) {
                owner.hasMore(this);
            }
        } else if (backOff.isResting(System.nanoTime())) {
            owner.fail(owner.stranded(this), lastFailure);
        } else {
            connect();
        }
    }

    private void connect() {
        Use use = new Use();
        TransferLimits limits = means.limits();
        Credentials credentials = means.credentials();
        PeerConnection opening = new PeerConnection(use, limits, means.counters(), means.share(), hasOthers);
        use.opened = opening;
        connection = opening;
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(means.threads().clientChannel())
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
        ChannelFuture connecting =
                from == null ? bootstrap.connect(address) : bootstrap.connect(address, new InetSocketAddress(from, 0));
        channel = connecting.channel();
        connecting.addListener(_ -> {
            if (!connecting.isSuccess()) {
                opening.lose("no connection: " + connecting.cause().getMessage());
            }
        });
    }

    /** One connection as this rail uses it, from the first attempt to its end. */
    private final class Use implements PeerConnection.Owner, ClientHandshake.Outcome {
        private @Nullable PeerConnection opened;

        @Override
        public void accepted(ChannelHandlerContext context) {
            if (opened != null) {
                means.counters().connections.increment();
                backOff.lives(); // a stopped peer's kernel accepts connections too, but shakes no hands
                context.pipeline().addLast(opened);
                take();
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
            take();
        }

        @Override
        public void wentWell(long bytes) {
            gotBytes.add(bytes);
            backOff.succeeded();
        }

        @Override
        public boolean takesBack(Flight unanswered) {
            return owner.takesBack(Rail.this, unanswered);
        }

        @Override
        public void retired() {
            owner.retired();
        }

        @Override
        public void lost(String reason) {
            connection = null;
            channel = null;
            lastFailure = reason;
            // Taken out before the rest begins: the one request that tries the peer after it must not fail with those
            // that waited.
            List<Flight> stranded = owner.stranded(Rail.this);
            if (!owner.isClosed()) {
                backOff.failed(System.nanoTime());
                means.counters().leftAlone.increment();
                LOG.log(
                        Level.WARNING,
                        "peer " + address + " is left alone for " + backOff.remainingMs(System.nanoTime()) + " ms: "
                                + reason);
            }
            owner.fail(stranded, reason);
        }
    }

    /** What is thrown would end the looks for good, and with them the bounds of all that wait. */
    private void expireAndGoOn() {
        try {
            expire();
        } catch (Throwable t) {
            LOG.log(Level.ERROR, "looking after requests to " + address, t);
        }
    }

    private void expire() {
        long now = System.nanoTime();
        owner.expireWaiting(now);
        PeerConnection current = connection;
        if (current != null) {
            current.expire(now);
        }
        take();
        if (owner.isIdle() && tick != null) {
            tick.cancel(false);
            tick = null;
        }
    }

    /** Begins to end the connection and waits for nothing. Returns null when the threads have ended already. */
    @Nullable
    Future<?> end() {
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
        look();
    }
}
