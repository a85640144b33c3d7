package io.clairfs.tools.mount;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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
                Socket onward = new Socket(server.getAddress(), server.getPort());
                open.add(client);
                open.add(onward);
                Thread.ofVirtual().start(() -> pump(client, onward, (_, _, _) -> Fate.PASSED));
                Thread.ofVirtual().start(() -> pump(onward, client, deed));
            }
        } catch (IOException closed) {
            return;
        }
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
        } catch (IOException closed) {
            return;
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
