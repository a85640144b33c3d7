package io.clairfs.tools.mount;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Relays between clients and a server on loopback, and changes the bytes that the server sends. */
final class Relay implements LyingPeer.Front {
    private static final int BACKLOG = 50;
    private static final int PIECE_BYTES = 16 << 10;

    /** The action on a piece of the server's bytes. */
    interface Deed {
        /**
         * Called for every piece, with the number of bytes that the connection relayed before. Returns the fate of the piece. Changes are
         * in place.
         */
        Fate meet(byte[] piece, int length, long before);
    }

    /** The fate of a piece. */
    enum Fate {
        PASSED,
        CHANGED,
        KEPT
    }

    private final ServerSocket listening = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    private final InetSocketAddress server;
    private final Deed deed;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong deeds = new AtomicLong();
    private boolean closed;

    Relay(InetSocketAddress server, Deed deed) throws IOException {
        this.server = server;
        this.deed = deed;
        Thread.ofVirtual().start(this::accept);
    }

    @Override
    public InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    @Override
    public long deeds() {
        return deeds.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                Thread.ofVirtual().start(() -> link(client));
            }
        } catch (IOException ended) {
            return;
        }
    }

    /** A server that does not take this connection may take the next one. */
    private void link(Socket client) {
        try {
            begin(client, new Socket(server.getAddress(), server.getPort()));
        } catch (IOException notTaken) {
            try {
                client.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A connection that was accepted before the relay closed, and is made on to the server afterwards, would stay open. */
    private synchronized void begin(Socket client, Socket onward) throws IOException {
        if (closed) {
            client.close();
            onward.close();
            return;
        }
        open.add(client);
        open.add(onward);
        Thread.ofVirtual().start(() -> pump(client, onward, (_, _, _) -> Fate.PASSED));
        Thread.ofVirtual().start(() -> pump(onward, client, deed));
    }

    private void pump(Socket from, Socket to, Deed does) {
        byte[] piece = new byte[PIECE_BYTES];
        long passed = 0;
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(piece); n > 0; n = in.read(piece)) {
                Fate fate = does.meet(piece, n, passed);
                if (fate != Fate.PASSED) {
                    deeds.incrementAndGet();
                }
                if (fate != Fate.KEPT) {
                    out.write(piece, 0, n);
                    passed += n;
                }
            }
        } catch (IOException ended) {
            return;
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    /** Ends all connections; none is made any more. */
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        listening.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
