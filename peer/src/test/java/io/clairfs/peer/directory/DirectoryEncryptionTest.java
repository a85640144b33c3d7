package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.Waits.WITHIN_SECONDS;
import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilAnswered;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.internal.server.ServerConnection;
import com.hazelcast.replicatedmap.ReplicatedMap;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.tls.GroupNodeContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/**
 * What somebody on the network of a group can see and do, with real members on loopback. Each member is known to the others by the address of a relay
 * before it. A test about what the secret prevents has a counterpart that shows the same to happen in a group without one.
 */
@Timeout(300)
final class DirectoryEncryptionTest {
    /** Nobody is taken for gone who is only slow: a member whose connections are closed is noticed all the same. */
    private static final DirectoryTimes QUICK = new DirectoryTimes(50, 300, 100, 1, 60, 1);

    private static final int SAMPLES = 1_000;

    /** Much, but not more than a handshake may take. */
    private static final Duration LONG_HANDSHAKE = Duration.ofSeconds(12);

    /** How long a stranger tries who is never let in: its test waits for all of it. */
    private static final int IN_VAIN_SECONDS = 5;

    private static final String JOB = "seed=814253 world=2 order-file=/lustre/imagenet/order-of-monday.txt";
    private static final Secret SECRET = Secret.of("a secret of the group".getBytes(StandardCharsets.US_ASCII));
    private static final Secret OTHER = Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII));

    private final Fingerprint dataset = new Fingerprint(
            ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong());
    private final List<Integer> ports = TestPorts.free(3);
    private final List<DirectoryRelay> relays = new ArrayList<>();
    private final List<GroupMembership> open = new ArrayList<>();
    private final List<HazelcastInstance> strangers = new ArrayList<>();

    DirectoryEncryptionTest() throws IOException {
        for (int port : ports) {
            relays.add(new DirectoryRelay(0, new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
        }
    }

    @AfterEach
    void allLeave() throws IOException {
        strangers.forEach(stranger -> stranger.getLifecycleService().terminate());
        open.forEach(GroupMembership::terminate);
        for (DirectoryRelay relay : relays) {
            relay.close();
        }
    }

    private ClusterConfig config(int number, @Nullable Secret secret) {
        return config(number, secret, relays);
    }

    /** The configuration of a member that knows the addresses of these. */
    private ClusterConfig config(int number, @Nullable Secret secret, List<DirectoryRelay> known) {
        return new ClusterConfig(
                dataset,
                secret,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), ports.get(number)),
                new Discovery.Members(
                        known.stream().map(DirectoryRelay::address).toList()),
                QUICK);
    }

    private Config settings(int number, @Nullable Secret secret) {
        return settingsOf(number, config(number, secret));
    }

    private Config settingsOf(int number, ClusterConfig config) {
        Config settings = HazelcastSettings.of(config, self(number));
        settings.getAdvancedNetworkConfig()
                .getEndpointConfigs()
                .values()
                .forEach(endpoint -> ((com.hazelcast.config.ServerSocketEndpointConfig) endpoint)
                        .setPublicAddress(relays.get(number).address()));
        return settings;
    }

    private static Node.Introduction self(int number) {
        return new Node.Introduction(
                "node" + number,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 9000 + number),
                new byte[] {(byte) number});
    }

    private GroupMembership open(int number, @Nullable Secret secret) throws IOException {
        GroupMembership member =
                GroupMembership.open(config(number, secret), () -> settings(number, secret), self(number), SAMPLES);
        open.add(member);
        return member;
    }

    /** Two members with a job. */
    private List<GroupMembership> group(@Nullable Secret secret) throws Exception {
        GroupMembership a = open(0, secret);
        GroupMembership b = open(1, secret);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        untilTold(() -> a.jobs().put("train", JOB));
        eventually(() -> lineOf(b, "train").equals(JOB));
        return List.of(a, b);
    }

    private static String lineOf(GroupMembership member, String job) {
        Job known = member.jobs().now().running().get(job);
        return known == null ? "" : known.lines();
    }

    /** Both members are there, and what is written on one arrives at the other. */
    private static void assertGroupGoesOn(List<GroupMembership> group) throws Exception {
        GroupMembership a = group.getFirst();
        GroupMembership b = group.getLast();
        untilTold(() -> a.jobs().put("from-a", "seed=1"));
        untilTold(() -> b.jobs().put("from-b", "seed=2"));
        eventually(() ->
                lineOf(b, "from-a").equals("seed=1") && lineOf(a, "from-b").equals("seed=2"));
        for (GroupMembership member : group) {
            assertThat(member.hazelcast().getCluster().getMembers()).hasSameSizeAs(group);
            assertThat(member.nodes()).hasSameSizeAs(group);
        }
    }

    /**
     * A member as the group's own, with name of the cluster and proof of its attributes, that talks as {@code context} does. Null if it has
     * neither joined nor found itself alone after {@code joinSeconds}.
     */
    private @Nullable HazelcastInstance stranger(Config settings, @Nullable GroupNodeContext context, int joinSeconds) {
        settings.setProperty("hazelcast.max.join.seconds", Integer.toString(joinSeconds));
        try {
            HazelcastInstance stranger = context == null
                    ? Hazelcast.newHazelcastInstance(settings)
                    : HazelcastInstanceFactory.newHazelcastInstance(settings, null, context);
            strangers.add(stranger);
            return stranger;
        } catch (IllegalStateException notStarted) {
            return null;
        }
    }

    private static void stopJob(HazelcastInstance stranger) {
        ReplicatedMap<String, String> lines = stranger.getReplicatedMap(Jobs.LINES);
        String stopped = new JobState("", System.currentTimeMillis() + 1_000).text();
        untilAnswered(() -> lines.put("train", stopped));
    }

    @Test
    @Execution(CONCURRENT)
    void knowsTheName_ofAGroupWithoutSecret_readsAndStopsItsJob() throws Exception {
        List<GroupMembership> group = group(null);
        HazelcastInstance stranger = stranger(settings(2, null), null, WITHIN_SECONDS);
        assertThat(stranger).isNotNull();
        assertThat(stranger.getCluster().getMembers()).hasSize(3);
        String told = stranger.<String, String>getReplicatedMap(Jobs.LINES).get("train");
        assertThat(told).isNotNull();
        assertThat(JobState.read(told).lines()).isEqualTo(JOB);
        stopJob(stranger);
        eventually(() -> lineOf(group.getFirst(), "train").isEmpty());
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void knowsTheNameButNotTheSecret_isNotLetIn() throws Exception {
        List<GroupMembership> group = group(SECRET);
        int before = relays.getFirst().links().size();
        do { // until it has been at a member, for which its time may be too short; the class's timeout ends it
            assertThat(stranger(settings(2, SECRET), null, IN_VAIN_SECONDS)).isNull();
        } while (relays.getFirst().links().size() == before);
        assertThat(lineOf(group.getFirst(), "train")).isEqualTo(JOB);
        assertGroupGoesOn(group);
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void knowsTheNameAndHasAnotherSecret_isNotLetIn() throws Exception {
        List<GroupMembership> group = group(SECRET);
        HazelcastInstance stranger = stranger(
                settings(2, SECRET),
                new GroupNodeContext(config(2, OTHER).encryptionKey(), HazelcastSettings.handshakeSeconds(QUICK)),
                WITHIN_SECONDS);
        assertThat(stranger).isNotNull();
        assertThat(stranger.getCluster().getMembers()).hasSize(1);
        assertThat(stranger.<String, String>getReplicatedMap(Jobs.LINES)).isEmpty();
        stopJob(stranger);
        int before = relays.getFirst().links().size();
        eventually(() -> relays.getFirst().links().size() > before); // it looks for other halves of its group
        assertThat(stranger.getCluster().getMembers()).hasSize(1);
        assertThat(lineOf(group.getFirst(), "train")).isEqualTo(JOB);
        assertGroupGoesOn(group);
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void client_isNotLetIn() throws Exception {
        List<GroupMembership> group = group(SECRET);
        ClientConfig client = new ClientConfig();
        client.setClusterName(config(0, SECRET).clusterName());
        client.getNetworkConfig().addAddress("127.0.0.1:" + ports.getFirst());
        client.getConnectionStrategyConfig().getConnectionRetryConfig().setClusterConnectTimeoutMillis(3_000);
        assertThatThrownBy(() -> HazelcastClient.newHazelcastClient(client)).isInstanceOf(IllegalStateException.class);
        assertGroupGoesOn(group);
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
        GroupMembership member = open(0, SECRET);
        List<Socket> sockets = new ArrayList<>();
        try {
            for (String bytes : List.of(
                    "HZC",
                    "CP2",
                    "GET /hazelcast/rest/cluster HTTP/1.0\r\n\r\n",
                    "stats\r\n",
                    "\u0016\u0003\u0001\u0002\u0000 no hello of TLS")) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.getFirst());
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
        ClusterConfig usual = config(0, SECRET);
        DirectoryTimes times = new DirectoryTimes(50, 300, 100, 1, 2, 1); // a handshake has two seconds
        ClusterConfig impatient =
                new ClusterConfig(usual.dataset(), usual.secret(), usual.bind(), usual.discovery(), times);
        open.add(GroupMembership.open(impatient, () -> settingsOf(0, impatient), self(0), SAMPLES));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.getFirst())) {
            assertThat(answerUntilClosed(socket)).isEmpty();
        }
    }

    private String capture() {
        StringBuilder all = new StringBuilder();
        relays.forEach(relay -> all.append(new String(relay.passed(), StandardCharsets.ISO_8859_1)));
        return all.toString();
    }

    /** What a listener could want to know: all of it passes between two members that share a job and what they hold. */
    private List<String> toldOnTheWire(@Nullable Secret secret) {
        return Stream.of("814253", "order-of-monday", "train", config(0, secret).clusterName(), "node0", "node1")
                .toList();
    }

    @Test
    @Execution(CONCURRENT)
    void listener_ofAGroupWithoutSecret_seesAll() throws Exception {
        group(null);
        assertThat(capture()).contains(toldOnTheWire(null));
    }

    // Promise G15
    @Test
    @Execution(CONCURRENT)
    void listener_ofAGroupWithSecret_seesNothing() throws Exception {
        assertGroupGoesOn(group(SECRET));
        String seen = capture();
        assertThat(seen).hasSizeGreaterThan(2_000);
        assertThat(toldOnTheWire(SECRET)).noneMatch(seen::contains);
    }

    // Promise G16
    @Test
    @Execution(CONCURRENT)
    void bitThatFlips_endsItsConnection_andTheGroupIsRightAfterwards() throws Exception {
        List<GroupMembership> group = new ArrayList<>(group(SECRET));
        GroupMembership a = group.getFirst();
        GroupMembership b = group.get(1);
        List<DirectoryRelay.Link> between =
                allLinks().stream().filter(link -> !link.hasEnded()).toList();
        GroupMembership c = open(2, SECRET);
        group.add(c);
        eventually(() -> group.stream().allMatch(member -> member.nodes().size() == 3));
        List<ServerConnection> others = new ArrayList<>();
        for (GroupMembership member : List.of(a, b)) {
            others.add(established(c, member));
            others.add(established(member, c));
        }
        List<UUID> ids = a.nodes().stream().map(Node::id).toList();
        assertThat(between).isNotEmpty();

        between.forEach(DirectoryRelay.Link::flipNext);
        eventually(() -> between.stream().anyMatch(DirectoryRelay.Link::hasFlipped)
                && between.stream().allMatch(link -> !link.hasFlipped() || link.hasEnded()));
        untilTold(() -> a.jobs().put("train", JOB + " epochs=90"));
        untilTold(() -> b.jobs().putRanks("train", "1"));
        a.heldHere().added(0, 77);
        Job expected = new Job("train", JOB + " epochs=90", Map.of("node1", "1"));
        eventually(() -> group.stream()
                .allMatch(
                        member -> expected.equals(member.jobs().now().running().get("train"))
                                && member.nodes().size() == 3));
        eventually(() -> holds(b, 77) && holds(c, 77));
        assertThat(others).allMatch(ServerConnection::isAlive);
        for (GroupMembership member : group) {
            assertThat(member.nodes().stream().map(Node::id)).isEqualTo(ids);
        }
        eventually(() -> isConnected(a, b) && isConnected(b, a));
    }

    /** The connection by which a member sends to another, its handshakes done; null while there is none. Hazelcast ends none of these by itself. */
    private static @Nullable ServerConnection connection(GroupMembership from, GroupMembership to) {
        return ((HazelcastInstanceProxy) from.hazelcast())
                .getOriginal()
                .node
                .getServer()
                .getConnectionManager(EndpointQualifier.MEMBER)
                .get(to.hazelcast().getCluster().getLocalMember().getAddress());
    }

    private static boolean isConnected(GroupMembership from, GroupMembership to) {
        ServerConnection now = connection(from, to);
        return now != null && now.isAlive();
    }

    private static ServerConnection established(GroupMembership from, GroupMembership to) throws InterruptedException {
        eventually(() -> isConnected(from, to));
        return Objects.requireNonNull(connection(from, to));
    }

    /** Hazelcast drops what it sends to a member before it is connected, such as parts of the maps that the new member waits for. */
    @Test
    @Execution(CONCURRENT)
    void memberThatOthersReachLate_joinsAllTheSame() throws Exception {
        List<GroupMembership> group = new ArrayList<>(group(SECRET));
        relays.get(1).delayNew(Duration.ofSeconds(4));
        relays.get(2).delayNew(Duration.ofSeconds(4));
        ClusterConfig knowsTheFirst = config(2, SECRET, relays.subList(0, 1));
        CompletableFuture<GroupMembership> joining = CompletableFuture.supplyAsync(() -> {
            try {
                return GroupMembership.open(knowsTheFirst, () -> settingsOf(2, knowsTheFirst), self(2), SAMPLES);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        GroupMembership late = joining.get(WITHIN_SECONDS, TimeUnit.SECONDS);
        open.add(late);
        group.add(late);
        eventually(() -> group.stream().allMatch(member -> member.nodes().size() == 3));
        eventually(() -> lineOf(late, "train").equals(JOB));
    }

    /** As on machines that stand still. Hazelcast takes a member for dead whose last four connections were closed before it said anything. */
    @Test
    @Execution(CONCURRENT)
    void memberWhoseHandshakeTakesLong_staysInTheGroup() throws Exception {
        List<GroupMembership> group = group(SECRET);
        GroupMembership a = group.getFirst();
        GroupMembership b = group.getLast();
        List<UUID> ids = a.nodes().stream().map(Node::id).toList();
        List<ServerConnection> before = List.of(established(a, b), established(b, a));
        for (DirectoryRelay relay : relays) {
            relay.delayNew(LONG_HANDSHAKE);
        }
        for (DirectoryRelay.Link link : allLinks()) {
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

    private List<DirectoryRelay.Link> allLinks() {
        return relays.stream().flatMap(relay -> relay.links().stream()).toList();
    }

    private static boolean holds(GroupMembership asker, int sample) {
        return asker.heldElsewhere().view().nextHolder(sample, 0) >= 0;
    }
}
