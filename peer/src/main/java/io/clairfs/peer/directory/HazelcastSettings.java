package io.clairfs.peer.directory;

import static java.util.concurrent.TimeUnit.SECONDS;

import com.hazelcast.config.AdvancedNetworkConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.InterfacesConfig;
import com.hazelcast.config.JavaSerializationFilterConfig;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MergePolicyConfig;
import com.hazelcast.config.ReplicatedMapConfig;
import com.hazelcast.config.ServerSocketEndpointConfig;
import com.hazelcast.config.TcpIpConfig;
import com.hazelcast.spi.merge.LatestUpdateMergePolicy;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;

/** Hazelcast as this group needs it: small, quiet, quick to join, on one address, with nothing open but the member port. */
final class HazelcastSettings {
    private static final int MERGE_BATCH = 100;
    private static final int CONNECT_SECONDS = 3;

    /** A join without an answer is given up after this time. */
    static final int JOIN_SECONDS = 30;

    /**
     * How long a call to another member may take, and as long again without a sign that it is worked on. A connection that ends takes
     * calls with it, and Hazelcast does not repeat these before; by default that is two minutes.
     */
    private static final int CALL_SECONDS = 5;

    /**
     * How long the move of a partition to a new member may take, which waits for it in its join. Hazelcast drops a message to a member when it
     * has no connection to it for a second and a half, and a handshake takes longer on a busy machine; by default the move is made again after
     * five minutes.
     */
    private static final int MIGRATION_SECONDS = 10;

    /** A handshake has no longer, so that a join goes on in time without a stranger who says nothing. */
    private static final int MOST_HANDSHAKE_SECONDS = 20;

    /** How long a new member waits for its connections to all others before it begins; it connects later as well. */
    private static final int CONNECT_ALL_SECONDS = 10;

    /** Room for bytes of each direction of a connection, of which a member has one to every other. By default it is four times as much. */
    private static final int CONNECTION_KIB = 32;

    /** Between two looks at structures that are not used; by default a second. */
    private static final int UNUSED_PERIOD_MS = 3_600_000;

    private HazelcastSettings() {}

    /**
     * How long a handshake of TLS may take: as long as a member may be silent before it is taken for dead, for its machine may stand still so long.
     * Hazelcast takes a member for dead whose last four connections were closed without a byte from it.
     */
    static int handshakeSeconds(DirectoryTimes times) {
        return Math.min(times.goneSeconds(), MOST_HANDSHAKE_SECONDS);
    }

    /** The settings of a node whose members' names are looked up now. */
    static Config of(ClusterConfig cluster, Node.Introduction self) {
        MemberNames names = MemberNames.of(cluster, InetAddress::getAllByName);
        names.lookUp();
        return of(cluster, self, names);
    }

    /** The settings of a node that asks the members of {@code names}, as far as their addresses are known. */
    static Config of(ClusterConfig cluster, Node.Introduction self, MemberNames names) {
        Config config = new Config();
        config.setClusterName(cluster.clusterName());
        config.setMemberAttributeConfig(self.attributes(cluster));
        config.setAdvancedNetworkConfig(network(cluster, names));
        config.getMetricsConfig().setEnabled(false);
        config.getCRDTReplicationConfig().setReplicationPeriodMillis(UNUSED_PERIOD_MS); // there are none
        config.getSerializationConfig().setJavaSerializationFilterConfig(new JavaSerializationFilterConfig());
        for (String map : new String[] {Jobs.LINES, Jobs.RANKS}) {
            config.addReplicatedMapConfig(new ReplicatedMapConfig(map)
                    .setAsyncFillup(false)
                    .setMergePolicyConfig(new MergePolicyConfig(LatestUpdateMergePolicy.class.getName(), MERGE_BATCH)));
        }
        properties(cluster.times()).forEach(config::setProperty);
        boolean isIpv4 = cluster.bind().getAddress() instanceof Inet4Address;
        config.setProperty("hazelcast.prefer.ipv4.stack", Boolean.toString(isIpv4)); // else it binds to no IPv6 address
        return config;
    }

    private static AdvancedNetworkConfig network(ClusterConfig cluster, MemberNames names) {
        InetAddress host = cluster.bind().getAddress();
        ServerSocketEndpointConfig members = new ServerSocketEndpointConfig();
        members.setPort(cluster.bind().getPort()).setPortAutoIncrement(false).setReuseAddress(true);
        members.setPublicAddress(
                MemberNames.inBrackets(host) + ":" + cluster.bind().getPort());
        members.setSocketConnectTimeoutSeconds(CONNECT_SECONDS);
        members.setSocketSendBufferSizeKb(CONNECTION_KIB).setSocketRcvBufferSizeKb(CONNECTION_KIB);
        members.setInterfaces(new InterfacesConfig().setEnabled(true).addInterface(MemberNames.text(host)));
        return new AdvancedNetworkConfig()
                .setEnabled(true)
                .setMemberEndpointConfig(members)
                .setJoin(join(cluster.discovery(), names));
    }

    private static JoinConfig join(Discovery discovery, MemberNames names) {
        JoinConfig join = new JoinConfig();
        join.getMulticastConfig().setEnabled(false);
        join.getAutoDetectionConfig().setEnabled(false);
        switch (discovery) {
            case Discovery.Members _ -> {
                TcpIpConfig tcp = members(names).setEnabled(true);
                join.setTcpIpConfig(tcp.setConnectionTimeoutSeconds(CONNECT_SECONDS));
            }
            case Discovery.Kubernetes(var properties) -> {
                join.getKubernetesConfig().setEnabled(true);
                properties.forEach(join.getKubernetesConfig()::setProperty);
            }
        }
        return join;
    }

    /** The list of members as Hazelcast reads it, which grows when a name has an address. */
    private static TcpIpConfig members(MemberNames names) {
        return new TcpIpConfig() {
            @Override
            public List<String> getMembers() {
                return names.addresses();
            }
        };
    }

    private static Map<String, String> properties(DirectoryTimes times) {
        return Map.ofEntries(
                Map.entry("hazelcast.partition.count", "31"),
                Map.entry("hazelcast.phone.home.enabled", "false"),
                Map.entry("hazelcast.logging.type", "slf4j"),
                // Each wakes a thread every second, for lines in the log that say nothing of clairfs.
                Map.entry("hazelcast.health.monitoring.level", "OFF"),
                Map.entry("hazelcast.slow.operation.detector.enabled", "false"),
                // Otherwise every log line begins with the cluster's name, a long number.
                Map.entry("hazelcast.logging.details.enabled", "false"),
                Map.entry("hazelcast.shutdownhook.enabled", "false"),
                Map.entry("hazelcast.socket.bind.any", "false"),
                Map.entry("hazelcast.socket.server.bind.any", "false"),
                Map.entry("hazelcast.wait.seconds.before.join", "0"),
                Map.entry("hazelcast.tcp.join.port.try.count", "1"),
                Map.entry("hazelcast.max.join.seconds", Integer.toString(JOIN_SECONDS)),
                Map.entry("hazelcast.connect.all.wait.seconds", Integer.toString(CONNECT_ALL_SECONDS)),
                Map.entry("hazelcast.partition.migration.timeout", Integer.toString(MIGRATION_SECONDS)),
                Map.entry("hazelcast.operation.call.timeout.millis", Long.toString(SECONDS.toMillis(CALL_SECONDS))),
                Map.entry("hazelcast.heartbeat.interval.seconds", Integer.toString(times.heartbeatSeconds())),
                Map.entry("hazelcast.max.no.heartbeat.seconds", Integer.toString(times.goneSeconds())),
                Map.entry("hazelcast.merge.first.run.delay.seconds", Integer.toString(times.mergeSeconds())),
                Map.entry("hazelcast.merge.next.run.delay.seconds", Integer.toString(times.mergeSeconds())),
                Map.entry("hazelcast.graceful.shutdown.max.wait", "5"),
                Map.entry("hazelcast.event.thread.count", "1"),
                Map.entry("hazelcast.io.thread.count", "1"),
                Map.entry("hazelcast.operation.thread.count", "2"),
                Map.entry("hazelcast.operation.generic.thread.count", "2"));
    }
}
