package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.self;
import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.config.Config;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.internal.server.ServerConnection;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Members of a group on loopback, of which each is known to the others by the address of a relay before it. */
final class RelayedGroup implements AutoCloseable {
    /** Nobody is taken for gone who is only slow: a member whose connections are closed is noticed all the same. */
    static final DirectoryTimes QUICK = new DirectoryTimes(50, 300, 100, 1, 60, 1);

    static final int SAMPLES = 1_000;
    static final String JOB = "seed=814253 world=2 order-file=/lustre/imagenet/order-of-monday.txt";
    static final Secret SECRET = Secret.of("a secret of the group".getBytes(StandardCharsets.US_ASCII));

    private final Fingerprint dataset = new Fingerprint(
            ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong());
    private final List<Integer> ports = TestPorts.free(3);
    private final List<DirectoryRelay> relays = new ArrayList<>();
    private final List<GroupMembership> open = Collections.synchronizedList(new ArrayList<>());

    RelayedGroup() throws IOException {
        for (int port : ports) {
            relays.add(new DirectoryRelay(0, new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
        }
    }

    @Override
    public void close() throws IOException {
        open.forEach(GroupMembership::terminate);
        for (DirectoryRelay relay : relays) {
            relay.close();
        }
    }

    /** Where the first member listens, behind its relay. */
    int firstPort() {
        return ports.getFirst();
    }

    List<DirectoryRelay> relays() {
        return relays;
    }

    ClusterConfig config(int number, @Nullable Secret secret) {
        return config(number, secret, relays);
    }

    /** The configuration of a member that knows the addresses of these. */
    ClusterConfig config(int number, @Nullable Secret secret, List<DirectoryRelay> known) {
        return new ClusterConfig(
                dataset,
                secret,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), ports.get(number)),
                new Discovery.Members(
                        known.stream().map(DirectoryRelay::address).toList()),
                QUICK);
    }

    Config settings(int number, @Nullable Secret secret) {
        return settingsOf(number, config(number, secret));
    }

    Config settingsOf(int number, ClusterConfig config) {
        Config settings = HazelcastSettings.of(config, self(number));
        settings.getAdvancedNetworkConfig()
                .getEndpointConfigs()
                .values()
                .forEach(endpoint -> ((com.hazelcast.config.ServerSocketEndpointConfig) endpoint)
                        .setPublicAddress(relays.get(number).address()));
        return settings;
    }

    GroupMembership open(int number, @Nullable Secret secret) throws IOException {
        return open(number, config(number, secret));
    }

    /** A member of such a configuration, which may know others than all. */
    GroupMembership open(int number, ClusterConfig config) throws IOException {
        GroupMembership member = GroupMembership.open(config, () -> settingsOf(number, config), self(number), SAMPLES);
        open.add(member);
        return member;
    }

    /** Two members with a job. */
    List<GroupMembership> group(@Nullable Secret secret) throws Exception {
        GroupMembership a = open(0, secret);
        GroupMembership b = open(1, secret);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        untilTold(() -> a.jobs().put("train", JOB));
        eventually(() -> lineOf(b, "train").equals(JOB));
        return List.of(a, b);
    }

    static String lineOf(GroupMembership member, String job) {
        Job known = member.jobs().now().running().get(job);
        return known == null ? "" : known.lines();
    }

    /** Both members are there, and what is written on one arrives at the other. */
    static void assertGroupGoesOn(List<GroupMembership> group) throws Exception {
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

    /** The connection by which a member sends to another, its handshakes done; null while there is none. Hazelcast ends none of these by itself. */
    static @Nullable ServerConnection connection(GroupMembership from, GroupMembership to) {
        return ((HazelcastInstanceProxy) from.hazelcast())
                .getOriginal()
                .node
                .getServer()
                .getConnectionManager(EndpointQualifier.MEMBER)
                .get(to.hazelcast().getCluster().getLocalMember().getAddress());
    }

    static boolean isConnected(GroupMembership from, GroupMembership to) {
        ServerConnection now = connection(from, to);
        return now != null && now.isAlive();
    }

    static ServerConnection established(GroupMembership from, GroupMembership to) throws InterruptedException {
        eventually(() -> isConnected(from, to));
        return Objects.requireNonNull(connection(from, to));
    }

    List<DirectoryRelay.Link> allLinks() {
        return relays.stream().flatMap(relay -> relay.links().stream()).toList();
    }

    static boolean holds(GroupMembership asker, int sample) {
        return asker.heldElsewhere().view().nextHolder(sample, 0) >= 0;
    }
}
