package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.QUICK;
import static io.clairfs.peer.directory.DirectoryMembers.SAMPLES;
import static io.clairfs.peer.directory.DirectoryMembers.self;
import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.hazelcast.config.Config;
import io.clairfs.peer.LogbackLoggers;
import io.clairfs.peer.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/** How nodes find each other and become a group, on loopback, and who stays outside. */
@Timeout(300)
final class GroupJoinTest {
    private final DirectoryMembers members = new DirectoryMembers();

    GroupJoinTest() throws IOException {}

    @AfterEach
    void allLeave() {
        members.close();
    }

    /** Hazelcast keeps no address of a name that is not this node's own. (.ci/long-run slurm has a group of four names.) */
    @Test
    @Execution(CONCURRENT)
    void membersThatAreNames_becomeAddresses() {
        Config settings = HazelcastSettings.of(
                new ClusterConfig(
                        members.dataset(),
                        members.secret(),
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 5701),
                        new Discovery.Members(List.of(
                                "localhost", "localhost:99", "nowhere.invalid", "10.0.0.1", "[::1]", "[::1]:99")),
                        QUICK),
                new Node.Introduction("a", new InetSocketAddress(InetAddress.getLoopbackAddress(), 5702), new byte[0]));

        assertThat(settings.getAdvancedNetworkConfig()
                        .getJoin()
                        .getTcpIpConfig()
                        .getMembers())
                .contains("127.0.0.1:5701", "127.0.0.1:99", "10.0.0.1:5701", "[::1]:5701", "[::1]:99")
                .noneMatch(member -> member.startsWith("localhost") || member.startsWith("nowhere"));
    }

    @Test
    @Execution(CONCURRENT)
    void memberWithoutAnAddress_isLeftOut() throws Exception {
        GroupMembership alone = members.openWith(
                0,
                new ClusterConfig(
                        members.dataset(),
                        members.secret(),
                        new InetSocketAddress(
                                InetAddress.getLoopbackAddress(),
                                members.ports().get(0)),
                        new Discovery.Members(List.of(
                                "nowhere.invalid",
                                "localhost:" + members.ports().get(1))),
                        QUICK));
        GroupMembership b = members.open(1);

        eventually(() -> alone.nodes().size() == 2 && b.nodes().size() == 2);
    }

    @Test
    @Execution(CONCURRENT)
    void membersOfWhichNoneHasAnAddress_areNoGroupOfThisNodeAlone() {
        ClusterConfig nowhere = new ClusterConfig(
                members.dataset(),
                members.secret(),
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), members.ports().get(0)),
                new Discovery.Members(List.of("nowhere.invalid", "neither.invalid:99")),
                QUICK);
        assertThatThrownBy(() -> GroupMembership.open(nowhere, self(0), 100))
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith("no address is known for any of nowhere.invalid, neither.invalid:99");
    }

    /** As where nodes start together, and no name server knows more than themselves yet. */
    @Test
    @Execution(CONCURRENT)
    void nodesWhoseNamesAreKnownLater_beginAlone_andMeetThen() throws Exception {
        Map<String, InetAddress> known = new ConcurrentHashMap<>();
        GroupMembership a = openNamed(0, known);
        GroupMembership b = openNamed(1, known);
        assertThat(a.membersWithoutAddress())
                .containsExactly("node1.test:" + members.ports().get(1));
        assertThat(b.membersWithoutAddress())
                .containsExactly("node0.test:" + members.ports().get(0));
        assertThat(a.nodes()).hasSize(1);
        assertThat(b.nodes()).hasSize(1);

        known.put("node0.test", InetAddress.getLoopbackAddress());
        known.put("node1.test", InetAddress.getLoopbackAddress());
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        eventually(() ->
                a.membersWithoutAddress().isEmpty() && b.membersWithoutAddress().isEmpty());
    }

    /** As where a node comes back with another address, and those that know the old one are to find it. */
    @Test
    @Execution(CONCURRENT)
    void nodeWhoseNameHasAnotherAddressNow_isMetThere() throws Exception {
        InetAddress old = InetAddress.getByName("127.0.0.99"); // nobody is there
        Map<String, InetAddress> known = new ConcurrentHashMap<>(Map.of("node0.test", old, "node1.test", old));
        GroupMembership a = openNamed(0, known, "never.test");
        GroupMembership b = openNamed(1, known);
        assertThat(a.membersWithoutAddress()).as("is looked up again and again").containsExactly("never.test");
        assertThat(b.membersWithoutAddress()).isEmpty();
        assertThat(a.nodes()).hasSize(1);
        assertThat(b.nodes()).hasSize(1);

        known.put(
                "node1.test",
                InetAddress.getLoopbackAddress()); // that only the first, whose other name stays unknown, looks up
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
    }

    /** A node that is told of itself by its address, and of the other one and further members by names. */
    private GroupMembership openNamed(int number, Map<String, InetAddress> known, String... further)
            throws IOException {
        int other = 1 - number;
        InetSocketAddress bind = members.config(number, members.secret()).bind();
        List<String> all = new ArrayList<>(List.of(
                "127.0.0.1:" + bind.getPort(),
                "node" + other + ".test:" + members.ports().get(other)));
        all.addAll(List.of(further));
        Discovery found = new Discovery.Members(all);
        NameLookup.Servers servers = name -> {
            InetAddress address = name.endsWith(".test") ? known.get(name) : InetAddress.getByName(name);
            if (address == null) {
                throw new UnknownHostException(name);
            }
            return new InetAddress[] {address};
        };
        GroupMembership directory = GroupMembership.openAsking(
                servers,
                new ClusterConfig(members.dataset(), members.secret(), bind, found, QUICK),
                self(number),
                SAMPLES,
                new JobStates());
        members.add(directory);
        return directory;
    }

    @Test
    @Execution(CONCURRENT)
    void members_foundByTheNameOfAService() throws Exception {
        GroupMembership a = openPod(0);
        GroupMembership b = openPod(1);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
    }

    /** As a pod of a headless service, the name of which stands for the first pod alone. */
    private GroupMembership openPod(int number) throws IOException {
        Map<String, String> service = Map.of(
                "service-dns",
                "localhost",
                "service-port",
                members.ports().getFirst().toString());
        ClusterConfig pod = new ClusterConfig(
                members.dataset(),
                members.secret(),
                members.config(number, members.secret()).bind(),
                new Discovery.Kubernetes(service),
                QUICK);
        InetSocketAddress transfer = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9000 + number);
        GroupMembership directory =
                GroupMembership.open(pod, new Node.Introduction("pod" + number, transfer, new byte[0]), SAMPLES);
        members.add(directory);
        return directory;
    }

    // Promise G1
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void otherSecret_staysOutside() throws Exception {
        GroupMembership a = members.open(0);
        untilTold(() -> a.jobs().put("train", "seed=7"));
        GroupMembership stranger =
                members.open(1, Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII)));
        GroupMembership without = members.open(2, null);
        Thread.sleep(3_000);
        assertThat(a.nodes()).hasSize(1);
        assertThat(stranger.nodes()).hasSize(1);
        assertThat(without.nodes()).hasSize(1);
        assertThat(stranger.jobs().all()).isEmpty();
        assertThat(a.hazelcast().getCluster().getMembers()).hasSize(1);
    }

    @Test
    @Execution(CONCURRENT)
    void logs_atInfo_showTheClusterNameInOneCategoryOnly() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        Logger hazelcast = LogbackLoggers.named("com.hazelcast");
        Level before = hazelcast.getLevel();
        lines.start();
        hazelcast.addAppender(lines);
        hazelcast.setAdditive(false);
        hazelcast.setLevel(Level.INFO);
        try {
            GroupMembership a = members.open(0);
            members.open(1, Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII)));
            a.close();
        } finally {
            hazelcast.setLevel(before);
            hazelcast.setAdditive(true);
            hazelcast.detachAppender(lines);
            synchronized (lines) {
                lines.stop(); // others may be writing to it
            }
        }
        assertThat(lines.list).isNotEmpty();
        String name = members.config(0, members.secret()).clusterName();
        assertThat(lines.list.stream().filter(line -> line.getFormattedMessage().contains(name)))
                .allMatch(line -> line.getLoggerName().equals("com.hazelcast.system"));
    }

    @Test
    @Execution(CONCURRENT)
    void open_listensOnItsAddressOnly() throws Exception {
        members.open(0);
        new Socket(InetAddress.getLoopbackAddress(), members.ports().get(0)).close();
        InetAddress other = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
        assertThatThrownBy(() -> new Socket(other, members.ports().get(0)).close())
                .isInstanceOf(IOException.class);
    }

    @Test
    @Execution(CONCURRENT)
    void open_portTaken_saysSo() throws Exception {
        try (ServerSocket taken = new ServerSocket(members.ports().get(0), 1, InetAddress.getLoopbackAddress())) {
            assertThat(taken.isBound()).isTrue();
            assertThatThrownBy(() -> members.open(0))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cannot take part");
        }
    }

    // Promise G6
    @Test
    @Execution(CONCURRENT)
    void config_withoutSecretBeyondLoopback_isRefused() {
        assertThatThrownBy(() -> new ClusterConfig(
                        members.dataset(),
                        null,
                        new InetSocketAddress("192.0.2.1", 5701),
                        new Discovery.Members(List.of()),
                        QUICK))
                .hasMessageContaining("loopback");
    }
}
