package io.clairfs.peer.transfer.server;

import io.clairfs.peer.Handshakes;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Serves this node's samples to peers that prove that they belong to the group. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
public final class TransferServer implements AutoCloseable {
    private static final Logger LOG = System.getLogger(TransferServer.class.getName());
    private static final int BACKLOG = 128;
    private static final long REFUSAL_LOG_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long CLOSE_MOST_MS = 2_000;

    private final Credentials credentials;
    private final SampleService service;
    private final TransferLimits limits;
    private final int mostConnections;
    private final ServeCounters counters = new ServeCounters();
    private final ChannelGroup channels =
            new DefaultChannelGroup("transfer server", GlobalEventExecutor.INSTANCE, true);
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private final Handshakes<Channel> handshakes;
    private final AtomicLong refusalLoggedNs = new AtomicLong(System.nanoTime() - REFUSAL_LOG_INTERVAL_NS);

    private TransferServer(Credentials credentials, SampleService service, TransferLimits limits, int rails) {
        this.credentials = credentials;
        this.service = service;
        this.limits = limits;
        mostConnections = limits.counts().connections() * rails;
        handshakes = new Handshakes<>(limits.counts().handshakes());
    }

    /**
     * Listens on the addresses; port 0 takes any, see {@link #addresses()}.
     *
     * @throws IOException if it must not listen there without a secret, or cannot
     */
    public static TransferServer start(
            List<InetSocketAddress> listen,
            Credentials credentials,
            SampleService service,
            TransferLimits limits,
            TransferThreads threads)
            throws IOException {
        Optional<String> refusal = Credentials.requireSecretUnlessLoopback(listen, credentials.secret());
        if (refusal.isPresent()) {
            throw new IOException(refusal.get());
        }
        TransferServer server = new TransferServer(credentials, service, limits, listen.size());
        try {
            for (InetSocketAddress address : listen) {
                server.bind(address, threads);
            }
        } catch (IOException e) {
            server.close();
            throw e;
        }
        return server;
    }

    private void bind(InetSocketAddress address, TransferThreads threads) throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(threads.loops())
                .channel(threads.serverChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, new UnsentBytes())
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(
                                limits.windows().unsentBytes() / 2,
                                limits.windows().unsentBytes()))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        begin(channel);
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + address + ": " + bound.cause().getMessage(), bound.cause());
        }
        channels.add(bound.channel());
        addresses.add((InetSocketAddress) bound.channel().localAddress());
    }

    private void begin(Channel channel) {
        Channel oldest = handshakes.begin(channel);
        if (oldest != null) {
            oldest.close(); // is counted as refused when its handshake notices
        }
        channel.closeFuture().addListener(_ -> handshakes.end(channel));
        channels.add(channel);
        if (credentials.tls() != null) {
            channel.pipeline()
                    .addLast(credentials
                            .tls()
                            .serverHandler(channel, limits.times().handshakeMs()));
        }
        boolean busy = accepted.get() >= mostConnections;
        channel.pipeline()
                .addLast(new ServerHandshake(credentials, limits.times().handshakeMs(), busy, new Outcome()));
    }

    private final class Outcome implements ServerHandshake.Outcome {
        @Override
        public void accepted(ChannelHandlerContext context) {
            handshakes.end(context.channel());
            accepted.incrementAndGet();
            counters.connections.increment();
            context.channel().closeFuture().addListener(_ -> accepted.decrementAndGet());
            context.pipeline()
                    .addLast(new IdleStateHandler(true, 0, limits.times().stallMs(), 0, TimeUnit.MILLISECONDS))
                    .addLast(new ServingConnection(service, limits, counters));
        }

        @Override
        public void refused(ChannelHandlerContext context, String reason) {
            handshakes.end(context.channel());
            TransferServer.this.refused(context.channel(), reason);
        }
    }

    /** Counted always, logged a few times a second at most: strangers must not fill the log. */
    private void refused(Channel channel, String reason) {
        counters.refused.increment();
        long now = System.nanoTime();
        long last = refusalLoggedNs.get();
        if (now - last >= REFUSAL_LOG_INTERVAL_NS && refusalLoggedNs.compareAndSet(last, now)) {
            LOG.log(Level.WARNING, "refused peer " + channel.remoteAddress() + ": " + reason);
        }
    }

    /** The addresses it listens on, with their actual ports. */
    public List<InetSocketAddress> addresses() {
        return List.copyOf(addresses);
    }

    public ServeCounters counters() {
        return counters;
    }

    /** Stops listening and ends all connections; results under way are released. */
    @Override
    public void close() {
        channels.close().awaitUninterruptibly(CLOSE_MOST_MS);
    }
}
