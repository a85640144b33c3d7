package io.clairfs.tools.mount;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** A link of limited bandwidth in front of a server on loopback, on which every byte takes some time in each direction. */
final class DelayedLink implements LyingPeer.Front {
    private static final int PIECE_BYTES = 128 << 10;
    private static final int BACKLOG = 50;
    private static final int SPARE_PIECES = 64;

    /** What comes within this share of the delay travels together: a link of wire costs the processors nothing, and this one wakes threads. */
    private static final int TOGETHER = 20;

    /** Shorter sleeps take as long as this. */
    private static final long SHORTEST_SLEEP_NS = 100_000;

    private final ServerSocketChannel listening = ServerSocketChannel.open();
    private final InetSocketAddress server;
    private final long delayNs;
    private final double bytesPerNs;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private boolean closed;

    DelayedLink(InetSocketAddress server, Duration delay, long bytesPerSecond) throws IOException {
        this.server = server;
        delayNs = delay.toNanos();
        bytesPerNs = bytesPerSecond / 1e9;
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        Thread.ofPlatform().daemon().name("delayed-link").start(this::accept);
    }

    private record Piece(ByteBuffer bytes, long dueNs) {}

    @Override
    public InetSocketAddress address() {
        try {
            return (InetSocketAddress) listening.getLocalAddress();
        } catch (IOException e) {
            throw new AssertionError("it is bound", e);
        }
    }

    @Override
    public long deeds() {
        return 0;
    }

    private void accept() {
        try {
            while (true) {
                link(listening.accept());
            }
        } catch (IOException ended) {
            return;
        }
    }

    /** A server that does not take this link may take the next one. */
    private void link(SocketChannel client) throws IOException {
        try {
            begin(client, SocketChannel.open(server));
        } catch (IOException notTaken) {
            client.close();
        }
    }

    /** A link that was accepted before the close, and is made on to the server afterwards, would stay open. */
    private synchronized void begin(SocketChannel client, SocketChannel onward) throws IOException {
        if (closed) {
            client.close();
            onward.close();
            return;
        }
        for (SocketChannel each : new SocketChannel[] {client, onward}) {
            each.setOption(StandardSocketOptions.TCP_NODELAY, true);
            open.add(each);
        }
        carry(client, onward);
        carry(onward, client);
    }

    private void carry(SocketChannel from, SocketChannel to) {
        int most = (int) (delayNs * bytesPerNs / PIECE_BYTES) + SPARE_PIECES;
        BlockingQueue<Piece> onTheWay = new ArrayBlockingQueue<>(8 * most);
        BlockingQueue<ByteBuffer> free = new ArrayBlockingQueue<>(8 * most);
        for (int i = 0; i < most; i++) {
            free.add(ByteBuffer.allocateDirect(PIECE_BYTES));
        }
        Thread.ofPlatform().daemon().name("link-in").start(() -> take(from, onTheWay, free));
        Thread.ofPlatform().daemon().name("link-out").start(() -> give(to, onTheWay, free));
    }

    private void take(SocketChannel from, BlockingQueue<Piece> onTheWay, BlockingQueue<ByteBuffer> free) {
        long togetherNs = delayNs / TOGETHER;
        try (from) {
            long sentNs = System.nanoTime();
            boolean full = false;
            while (true) {
                if (!full && togetherNs >= SHORTEST_SLEEP_NS) {
                    LockSupport.parkNanos(togetherNs);
                }
                ByteBuffer piece = free.take().clear();
                if (from.read(piece) < 0) {
                    onTheWay.put(new Piece(piece.clear().limit(0), 0));
                    return;
                }
                full = !piece.hasRemaining();
                piece.flip();
                sentNs = Math.max(sentNs, System.nanoTime()) + (long) (piece.remaining() / bytesPerNs);
                onTheWay.put(new Piece(piece, sentNs + delayNs));
            }
        } catch (IOException | InterruptedException ended) {
            onTheWay.offer(new Piece(ByteBuffer.allocate(0), 0));
        } finally {
            open.remove(from);
        }
    }

    private void give(SocketChannel to, BlockingQueue<Piece> onTheWay, BlockingQueue<ByteBuffer> free) {
        try (to) {
            for (Piece piece = onTheWay.take(); piece.bytes.hasRemaining(); piece = onTheWay.take()) {
                for (long left = piece.dueNs - System.nanoTime(); left > 0; left = piece.dueNs - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                while (piece.bytes.hasRemaining()) {
                    to.write(piece.bytes);
                }
                free.put(piece.bytes);
            }
        } catch (IOException | InterruptedException ended) {
            return;
        } finally {
            open.remove(to);
        }
    }

    /** Ends all links; none is made any more. */
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        listening.close();
        for (SocketChannel each : open) {
            each.close();
        }
    }
}
