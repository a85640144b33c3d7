package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.QUICK;
import static io.clairfs.peer.directory.DirectoryMembers.SAMPLES;
import static io.clairfs.peer.directory.DirectoryMembers.self;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Real members of one group on loopback, for a test. */
final class DirectoryMembers implements AutoCloseable {
    static final int SAMPLES = 1_000_000;

    /** Nobody is taken for gone who is only slow: a member whose connections are closed is noticed all the same. */
    static final DirectoryTimes QUICK = new DirectoryTimes(50, 300, 100, 1, 60, 2);

    private final Fingerprint dataset = new Fingerprint(
            ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong());
    private final Secret secret = Secret.of("a secret of the group".getBytes(StandardCharsets.US_ASCII));
    private final List<Integer> ports = TestPorts.free(3);
    private final List<GroupMembership> open = new ArrayList<>();

    DirectoryMembers() throws IOException {}

    Fingerprint dataset() {
        return dataset;
    }

    Secret secret() {
        return secret;
    }

    /** Of the members by number. */
    List<Integer> ports() {
        return ports;
    }

    ClusterConfig config(int number, @Nullable Secret shared) {
        return config(number, shared, QUICK);
    }

    ClusterConfig config(int number, @Nullable Secret shared, DirectoryTimes times) {
        return new ClusterConfig(
                dataset,
                shared,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), ports.get(number)),
                new Discovery.Members(
                        ports.stream().map(port -> "127.0.0.1:" + port).toList()),
                times);
    }

    GroupMembership open(int number) throws IOException {
        return open(number, secret);
    }

    GroupMembership open(int number, @Nullable Secret shared) throws IOException {
        return openWith(number, config(number, shared));
    }

    GroupMembership openWith(int number, ClusterConfig config) throws IOException {
        GroupMembership directory = GroupMembership.open(config, self(number), SAMPLES);
        open.add(directory);
        return directory;
    }

    static Node.Introduction self(int number) {
        return new Node.Introduction(
                "node" + number,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 9000 + number),
                new byte[] {(byte) number});
    }

    /** Has a member leave at the end that was opened otherwise. */
    void add(GroupMembership member) {
        open.add(member);
    }

    /** Whether a node knows of another that it holds a sample in a tier. */
    static boolean holds(GroupMembership asker, String node, int tier, int sample) {
        HeldElsewhere.View view = asker.heldElsewhere().view();
        for (int i = view.nextHolder(sample, 0); i >= 0; i = view.nextHolder(sample, i + 1)) {
            if (view.node(i).name().equals(node)) {
                assertThat(view.nodesThatHold(sample) >> i & 1).isEqualTo(1);
                return view.tier(sample, i) == tier;
            }
        }
        return false;
    }

    /** All leave without notice. */
    @Override
    public void close() {
        open.forEach(GroupMembership::terminate);
    }
}
