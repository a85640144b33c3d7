package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.RelayedGroup.JOB;
import static io.clairfs.peer.directory.RelayedGroup.QUICK;
import static io.clairfs.peer.directory.RelayedGroup.SECRET;
import static io.clairfs.peer.directory.RelayedGroup.assertGroupGoesOn;
import static io.clairfs.peer.directory.RelayedGroup.established;
import static io.clairfs.peer.directory.RelayedGroup.holds;
import static io.clairfs.peer.directory.RelayedGroup.isConnected;
import static io.clairfs.peer.directory.RelayedGroup.lineOf;
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
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.internal.server.ServerConnection;
import com.hazelcast.replicatedmap.ReplicatedMap;
import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.tls.GroupNodeContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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
    /** How long a stranger tries who is never let in: its test waits for all of it. */
    private static final int IN_VAIN_SECONDS = 5;

    private static final Secret OTHER = Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII));

    private final RelayedGroup members = new RelayedGroup();
    private final List<HazelcastInstance> strangers = new ArrayList<>();

    DirectoryEncryptionTest() throws IOException {}

    @AfterEach
    void allLeave() throws IOException {
        strangers.forEach(stranger -> stranger.getLifecycleService().terminate());
        members.close();
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
        List<GroupMembership> group = members.group(null);
        HazelcastInstance stranger = stranger(members.settings(2, null), null, WITHIN_SECONDS);
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
        List<GroupMembership> group = members.group(SECRET);
        int before = members.relays().getFirst().links().size();
        do { // until it has been at a member, for which its time may be too short; the class's timeout ends it
            assertThat(stranger(members.settings(2, SECRET), null, IN_VAIN_SECONDS))
                    .isNull();
        } while (members.relays().getFirst().links().size() == before);
        assertThat(lineOf(group.getFirst(), "train")).isEqualTo(JOB);
        assertGroupGoesOn(group);
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void knowsTheNameAndHasAnotherSecret_isNotLetIn() throws Exception {
        List<GroupMembership> group = members.group(SECRET);
        HazelcastInstance stranger = stranger(
                members.settings(2, SECRET),
                new GroupNodeContext(
                        members.config(2, OTHER).encryptionKey(), HazelcastSettings.handshakeSeconds(QUICK)),
                WITHIN_SECONDS);
        assertThat(stranger).isNotNull();
        assertThat(stranger.getCluster().getMembers()).hasSize(1);
        assertThat(stranger.<String, String>getReplicatedMap(Jobs.LINES)).isEmpty();
        stopJob(stranger);
        int before = members.relays().getFirst().links().size();
        eventually(() -> members.relays().getFirst().links().size() > before); // it looks for other halves of its group
        assertThat(stranger.getCluster().getMembers()).hasSize(1);
        assertThat(lineOf(group.getFirst(), "train")).isEqualTo(JOB);
        assertGroupGoesOn(group);
    }

    // Promise G14
    @Test
    @Execution(CONCURRENT)
    void client_isNotLetIn() throws Exception {
        List<GroupMembership> group = members.group(SECRET);
        ClientConfig client = new ClientConfig();
        client.setClusterName(members.config(0, SECRET).clusterName());
        client.getNetworkConfig().addAddress("127.0.0.1:" + members.firstPort());
        client.getConnectionStrategyConfig().getConnectionRetryConfig().setClusterConnectTimeoutMillis(3_000);
        assertThatThrownBy(() -> HazelcastClient.newHazelcastClient(client)).isInstanceOf(IllegalStateException.class);
        assertGroupGoesOn(group);
    }

    private String capture() {
        StringBuilder all = new StringBuilder();
        members.relays().forEach(relay -> all.append(new String(relay.passed(), StandardCharsets.ISO_8859_1)));
        return all.toString();
    }

    /** What a listener could want to know: all of it passes between two members that share a job and what they hold. */
    private List<String> toldOnTheWire(@Nullable Secret secret) {
        return Stream.of(
                        "814253",
                        "order-of-monday",
                        "train",
                        members.config(0, secret).clusterName(),
                        "node0",
                        "node1")
                .toList();
    }

    @Test
    @Execution(CONCURRENT)
    void listener_ofAGroupWithoutSecret_seesAll() throws Exception {
        members.group(null);
        assertThat(capture()).contains(toldOnTheWire(null));
    }

    // Promise G15
    @Test
    @Execution(CONCURRENT)
    void listener_ofAGroupWithSecret_seesNothing() throws Exception {
        assertGroupGoesOn(members.group(SECRET));
        String seen = capture();
        assertThat(seen).hasSizeGreaterThan(2_000);
        assertThat(toldOnTheWire(SECRET)).noneMatch(seen::contains);
    }

    // Promise G16
    @Test
    @Execution(CONCURRENT)
    void bitThatFlips_endsItsConnection_andTheGroupIsRightAfterwards() throws Exception {
        List<GroupMembership> group = new ArrayList<>(members.group(SECRET));
        GroupMembership a = group.getFirst();
        GroupMembership b = group.get(1);
        List<DirectoryRelay.Link> between =
                members.allLinks().stream().filter(link -> !link.hasEnded()).toList();
        GroupMembership c = members.open(2, SECRET);
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
}
