package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.RelayedGroup.JOB;
import static io.clairfs.peer.directory.RelayedGroup.SECRET;
import static io.clairfs.peer.directory.RelayedGroup.established;
import static io.clairfs.peer.directory.RelayedGroup.holds;
import static io.clairfs.peer.directory.RelayedGroup.isConnected;
import static io.clairfs.peer.directory.RelayedGroup.lineOf;
import static io.clairfs.peer.directory.Waits.WITHIN_SECONDS;
import static io.clairfs.peer.directory.Waits.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.internal.server.ServerConnection;
import io.clairfs.peer.directory.tls.GroupNodeContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/** Connections of a group's members that say nothing or something else than TLS, and those that come late or take long. */
@Timeout(300)
final class DirectoryConnectionsTest {
    /** Much, but not more than a handshake may take. */
    private static final Duration LONG_HANDSHAKE = Duration.ofSeconds(12);

    private static final int AN_HOUR_S = 3_600;

    private final RelayedGroup members = new RelayedGroup();

    DirectoryConnectionsTest() throws IOException {}

    @AfterEach
    void allLeave() throws IOException {
        members.close();
    }

    /** What the other side sends until it closes the connection, which it must do. */
    private static byte[] answerUntilClosed(Socket socket) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(WITHIN_SECONDS));
        try {
            socket.getInputStream().transferTo(answer);
        } catch (SocketException reset) {
            return answer.toByteArray(); // Hazelcast closes so
        }
        return answer.toByteArray();
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void whateverIsNotTls_getsNoAnswerOfHazelcast() throws Exception {
        GroupMembership member = members.open(0, SECRET);
        List<Socket> sockets = new ArrayList<>();
        try {
            for (String bytes : List.of(
                    "HZC",
                    "CP2",
                    "GET /hazelcast/rest/cluster HTTP/1.0\r\n\r\n",
                    "stats\r\n",
                    "\u0016\u0003\u0001\u0002\u0000 no hello of TLS")) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), members.firstPort());
                sockets.add(socket);
                socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
            }
            for (Socket socket : sockets) {
                assertThat(answerUntilClosed(socket)).isEmpty();
            }
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        assertThat(member.hazelcast().getLifecycleService().isRunning()).isTrue();
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void connectsAndSaysNothing_isDisconnected() throws Exception {
        ClusterConfig usual = members.config(0, SECRET);
        DirectoryTimes times = new DirectoryTimes(50, 300, 100, 1, 2, 1); // a handshake has two seconds
        ClusterConfig impatient =
                new ClusterConfig(usual.dataset(), usual.secret(), usual.bind(), usual.discovery(), times);
        members.open(0, impatient);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), members.firstPort())) {
            assertThat(answerUntilClosed(socket)).isEmpty();
        }
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void strangersThatSayNothing_areBounded_theOldestGoes_andAMemberComesIn() throws Exception {
        int most = 4;
        ClusterConfig config = members.config(0, SECRET, List.of());
        HazelcastInstance member = HazelcastInstanceFactory.newHazelcastInstance(
                members.settingsOf(0, config), null, new GroupNodeContext(config.encryptionKey(), AN_HOUR_S, most));
        List<Socket> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < most + 2; i++) {
                strangers.add(new Socket(InetAddress.getLoopbackAddress(), members.firstPort()));
            }
            assertThat(answerUntilClosed(strangers.get(0))).isEmpty();
            assertThat(answerUntilClosed(strangers.get(1))).isEmpty();
            GroupMembership second = members.open(1, SECRET);
            eventually(() -> second.hazelcast().getCluster().getMembers().size() == 2);
            assertThat(answerUntilClosed(strangers.get(2))).isEmpty();
            assertThat(member.getCluster().getMembers()).hasSize(2);
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
            member.getLifecycleService().terminate();
        }
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void handshake_mayTakeTwentySeconds() {
        assertThat(HazelcastSettings.handshakeSeconds(DirectoryTimes.DEFAULT)).isEqualTo(20);
    }

    /** Hazelcast drops what it sends to a member before it is connected, such as parts of the maps that the new member waits for. */
    @Test
    @Execution(CONCURRENT)
    void memberThatOthersReachLate_joinsAllTheSame() throws Exception {
        List<GroupMembership> group = new ArrayList<>(members.group(SECRET));
        members.relays().get(1).delayNew(Duration.ofSeconds(4));
        members.relays().get(2).delayNew(Duration.ofSeconds(4));
        ClusterConfig knowsTheFirst = members.config(2, SECRET, members.relays().subList(0, 1));
        CompletableFuture<GroupMembership> joining = CompletableFuture.supplyAsync(() -> {
            try {
                return members.open(2, knowsTheFirst);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        GroupMembership late = joining.get(WITHIN_SECONDS, TimeUnit.SECONDS);
        group.add(late);
        eventually(() -> group.stream().allMatch(member -> member.nodes().size() == 3));
        eventually(() -> lineOf(late, "train").equals(JOB));
    }

    /** As on machines that stand still. Hazelcast takes a member for dead whose last four connections were closed before it said anything. */
    @Test
    @Execution(CONCURRENT)
    void memberWhoseHandshakeTakesLong_staysInTheGroup() throws Exception {
        List<GroupMembership> group = members.group(SECRET);
        GroupMembership a = group.getFirst();
        GroupMembership b = group.getLast();
        List<UUID> ids = a.nodes().stream().map(Node::id).toList();
        List<ServerConnection> before = List.of(established(a, b), established(b, a));
        for (DirectoryRelay relay : members.relays()) {
            relay.delayNew(LONG_HANDSHAKE);
        }
        for (DirectoryRelay.Link link : members.allLinks()) {
            link.close();
        }
        eventually(() -> before.stream().noneMatch(ServerConnection::isAlive));
        eventually(() -> isConnected(a, b) && isConnected(b, a));
        for (GroupMembership member : group) {
            assertThat(member.nodes().stream().map(Node::id)).isEqualTo(ids);
        }
        a.heldHere().added(0, 77);
        eventually(() -> holds(b, 77));
    }
}
