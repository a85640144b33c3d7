package io.clairfs.peer.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Stands between a client and a server and does something to the bytes that the server sends. */
final class Tampering implements AutoCloseable {
    /** Called for every piece that passes, with the number of bytes that passed before. Returns how many are passed on, -1 to cut. */
    interface Deed {
        int pass(byte[] piece, int length, long before);
    }

    private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final InetSocketAddress server;
    private final Deed deed;

    Tampering(InetSocketAddress server, Deed deed) throws IOException {
        this.server = server;
        this.deed = deed;
        Thread.ofVirtual().start(this::accept);
    }

    static Deed flip(long at) {
        return (piece, length, before) -> {
            if (at >= before && at < before + length) {
                piece[(int) (at - before)] ^= 4;
            }
            return length;
        };
    }

    static Deed cut(long at) {
        return (piece, length, before) -> before + length > at ? -1 : length;
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                Socket onward = new Socket(server.getAddress(), server.getPort());
                Thread.ofVirtual().start(() -> pump(client, onward, (_, length, _) -> length));
                Thread.ofVirtual().start(() -> pump(onward, client, deed));
            }
        } catch (IOException closed) {
            return;
        }
    }

    private static void pump(Socket from, Socket to, Deed deed) {
        byte[] piece = new byte[16 << 10];
        long passed = 0;
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(piece); n > 0; n = in.read(piece)) {
                int pass = deed.pass(piece, n, passed);
                if (pass < 0) {
                    return;
                }
                out.write(piece, 0, pass);
                passed += n;
            }
        } catch (IOException closed) {
            return;
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }
}
