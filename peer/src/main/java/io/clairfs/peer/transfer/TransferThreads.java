package io.clairfs.peer.transfer;

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
import java.util.concurrent.TimeUnit;

/** The event loops of transfers: few threads, over epoll where its library loads, over NIO elsewhere. */
public final class TransferThreads implements AutoCloseable {
    private static final int CLOSE_MOST_MS = 2_000;

    private final EventLoopGroup loops;
    private final boolean epoll;

    private TransferThreads(EventLoopGroup loops, boolean epoll) {
        this.loops = loops;
        this.epoll = epoll;
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
