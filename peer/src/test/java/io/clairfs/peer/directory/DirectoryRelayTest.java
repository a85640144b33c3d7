package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.Waits.WITHIN_SECONDS;
import static io.clairfs.peer.directory.Waits.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class DirectoryRelayTest {
    @Test
    void linkThatIsMadeWhileTheRelayCloses_ends() throws Exception {
        InetAddress host = InetAddress.getLoopbackAddress();
        int port = TestPorts.free(1).getFirst();
        try (ServerSocket member = new ServerSocket(0, 50, host)) {
            DirectoryRelay relay = new DirectoryRelay(port, new InetSocketAddress(host, member.getLocalPort()));
            CountDownLatch relayHasClosed = new CountDownLatch(1);
            relay.holdNew(relayHasClosed);
            try (Socket other = new Socket(host, port)) {
                eventually(() -> relay.accepted() == 1);
                relay.close();
                relayHasClosed.countDown();
                other.setSoTimeout((int) TimeUnit.SECONDS.toMillis(WITHIN_SECONDS));
                assertThat(other.getInputStream().read()).isNegative();
            }
            assertThat(relay.links()).isEmpty();
        }
    }
}
