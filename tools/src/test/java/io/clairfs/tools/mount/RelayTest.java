package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A relay that closes leaves no connection behind, and one that a server refuses costs no other. */
@Timeout(300)
final class RelayTest {
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();
    private static final int FULL_MS = 200;

    /** More than the queue of a server with the smallest backlog takes. */
    private static final int MANY = 64;

    private static Relay before(int port) throws IOException {
        return new Relay(new InetSocketAddress(HOST, port), (_, _, _) -> Relay.Fate.PASSED);
    }

    private static Socket connected(Relay to) throws IOException {
        return new Socket(HOST, to.address().getPort());
    }

    /** Returns when the other side has ended the connection. */
    private static boolean ends(Socket connection) {
        try {
            return connection.getInputStream().read() < 0;
        } catch (IOException reset) {
            return true;
        }
    }

    /** Connects to a server that accepts nothing, until its queue is full. */
    private static void fill(ServerSocket server, Parts fillers) throws IOException {
        for (int i = 0; i < MANY; i++) {
            Socket filler = fillers.add(new Socket());
            try {
                filler.connect(server.getLocalSocketAddress(), FULL_MS);
            } catch (IOException full) {
                return;
            }
        }
    }

    /** Accepts all that have connected and will, until the server closes. They stay open. */
    private static void acceptAll(ServerSocket server, List<Socket> accepted) {
        try {
            while (true) {
                accepted.add(server.accept());
            }
        } catch (IOException ended) {
            return;
        }
    }

    @Test
    void connectionThatIsMadeWhileTheRelayCloses_ends() throws Exception {
        List<Socket> accepted = new CopyOnWriteArrayList<>();
        try (Parts parts = new Parts()) {
            ServerSocket server = parts.add(new ServerSocket(0, 1, HOST));
            fill(server, parts);
            Relay relay = parts.add(before(server.getLocalPort()));
            Socket other = parts.add(connected(relay));
            TimeUnit.MILLISECONDS.sleep(
                    FULL_MS); // so that the relay has most likely accepted it, and waits for the server
            relay.close();
            Thread.ofVirtual().start(() -> acceptAll(server, accepted));
            assertThat(ends(other)).isTrue();
        }
        for (Socket each : accepted) {
            each.close();
        }
    }

    @Test
    void connectionThatTheServerDoesNotTake_ends_andTheNextOneIsMade() throws Exception {
        int port = TestPorts.free(1);
        try (Relay relay = before(port)) {
            try (Socket early = connected(relay)) {
                assertThat(ends(early)).isTrue();
            }
            try (ServerSocket server = new ServerSocket(port, 1, HOST);
                    Socket other = connected(relay);
                    Socket accepted = server.accept()) {
                accepted.getOutputStream().write(7);
                assertThat(other.getInputStream().read()).isEqualTo(7);
            }
        }
    }
}
