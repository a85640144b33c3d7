package io.clairfs.peer.transfer;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessorAffinity;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The event loops of transfers: few threads, over epoll where its library loads, over NIO elsewhere. */
public final class TransferThreads implements AutoCloseable {
    private static final int CLOSE_MOST_MS = 2_000;

    private static final Logger LOG = System.getLogger(TransferThreads.class.getName());

    private final EventLoopGroup loops;
    private final List<EventLoop> each = new ArrayList<>();
    private final boolean epoll;

    private TransferThreads(EventLoopGroup loops, boolean epoll) {
        this.loops = loops;
        this.epoll = epoll;
        loops.forEach(loop -> each.add((EventLoop) loop));
    }

    /** Starts {@code threads} event loops; their threads are named {@code <role>-<group>-<number>}. */
    public static TransferThreads start(String role, int threads) {
        return start(role, threads, Epoll.isAvailable());
    }

    /** The same, over epoll or over NIO. */
    public static TransferThreads start(String role, int threads, boolean epoll) {
        IoHandlerFactory io = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        return new TransferThreads(
                new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(role, true), io), epoll);
    }

    public EventLoopGroup loops() {
        return loops;
    }

    public EventLoop next() {
        return loops.next();
    }

    /** The event loop of a rail: that of its number, so that no two rails of a peer share one if there are enough. */
    public EventLoop of(int rail) {
        return each.get(rail % each.size());
    }

    /** Keeps a rail's event loop on these processors, if they can be had. Never waits. */
    public void keepOn(int rail, BitSet processors) {
        of(rail).execute(() -> {
            try {
                ProcessorAffinity.keepOn(processors);
            } catch (PosixException e) {
                LOG.log(
                        Level.WARNING,
                        "rail " + rail + " runs anywhere, not on processors " + processors + ": " + e.getMessage());
            }
        });
    }

    public Class<? extends Channel> clientChannel() {
        return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    public Class<? extends ServerChannel> serverChannel() {
        return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /** Ends the threads; servers and clients that use them are closed before. */
    @Override
    public void close() {
        loops.shutdownGracefully(0, CLOSE_MOST_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(2L * CLOSE_MOST_MS);
    }
}
