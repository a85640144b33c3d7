package io.clairfs.peer.directory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands before a member, at the address by which others know it. Keeps all bytes that pass, and flips a bit of them when told to. */
final class DirectoryRelay implements AutoCloseable {
    /** A connection to the member. */
    final class Link {
        private final Socket from;
        private final Socket to;
        private final AtomicBoolean flip = new AtomicBoolean();
        private volatile boolean flipped;
        private volatile boolean ended;

        private Link(Socket from, Socket to) {
            this.from = from;
            this.to = to;
        }

        private void begin() {
            Thread.ofVirtual().start(() -> pump(from, to));
            Thread.ofVirtual().start(() -> pump(to, from));
        }

        /** Has a bit of the next bytes flip, whichever way they go. */
        void flipNext() {
            flip.set(true);
        }

        /** Whether a bit has flipped: of connections made at the same time one may carry nothing. */
        boolean hasFlipped() {
            return flipped;
        }

        boolean hasEnded() {
            return ended;
        }

        /** Ends it. */
        void close() throws IOException {
            from.close();
            to.close();
        }

        private void pump(Socket source, Socket sink) {
            ByteArrayOutputStream kept = recording();
            byte[] piece = new byte[16 << 10];
            try (source;
                    sink) {
                InputStream in = source.getInputStream();
                OutputStream out = sink.getOutputStream();
                for (int n = in.read(piece); n > 0; n = in.read(piece)) {
                    keep(kept, piece, n);
                    if (flip.getAndSet(false)) {
                        piece[n - 1] ^= 4;
                        flipped = true;
                    }
                    out.write(piece, 0, n);
                }
            } catch (IOException closed) {
                return;
            } finally {
                ended = true;
            }
        }
    }

    private final ServerSocket listening;
    private final InetSocketAddress member;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private boolean closed;
    private volatile CountDownLatch mayBeMade = new CountDownLatch(0);
    private volatile Duration delay = Duration.ZERO;

    /** What has passed, of each direction of each connection by itself: others' bytes must not cut a word in two. */
    private final List<ByteArrayOutputStream> passed = new ArrayList<>();

    DirectoryRelay(int port, InetSocketAddress member) throws IOException {
        listening = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        this.member = member;
        Thread.ofVirtual().start(this::accept);
    }

    String address() {
        return "127.0.0.1:" + listening.getLocalPort();
    }

    /** From now on each new connection waits for this before it is made on to the member. */
    void holdNew(CountDownLatch until) {
        mayBeMade = until;
    }

    /** From now on each new connection waits so long before anything passes. */
    void delayNew(Duration time) {
        delay = time;
    }

    /** How many connections were accepted, those included that are not made on to the member yet. */
    int accepted() {
        return accepted.get();
    }

    /** All connections so far, also those that have ended. */
    List<Link> links() {
        return List.copyOf(links);
    }

    private synchronized ByteArrayOutputStream recording() {
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        passed.add(kept);
        return kept;
    }

    private synchronized void keep(ByteArrayOutputStream kept, byte[] piece, int length) {
        kept.write(piece, 0, length);
    }

    /** All bytes that have passed, one direction of a connection after the other. */
    synchronized byte[] passed() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        passed.forEach(kept -> all.writeBytes(kept.toByteArray()));
        return all.toByteArray();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket from = listening.accept();
                accepted.incrementAndGet();
                Thread.ofVirtual().start(() -> link(from));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void link(Socket from) {
        try {
            mayBeMade.await();
            Thread.sleep(delay);
            begin(new Link(from, new Socket(member.getAddress(), member.getPort())));
        } catch (IOException | InterruptedException nobodyListens) {
            try {
                from.close();
            } catch (IOException closed) {
                return;
            }
        }
    }

    /** A link that was accepted before the relay closed, and is made afterwards, would connect two members that a test has parted. */
    private synchronized void begin(Link link) throws IOException {
        if (closed) {
            link.close();
            return;
        }
        links.add(link);
        link.begin();
    }

    /** Ends all connections; none is made any more. */
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        listening.close();
        for (Link link : links) {
            link.close();
        }
    }
}
