package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.QUICK;
import static io.clairfs.peer.directory.DirectoryMembers.SAMPLES;
import static io.clairfs.peer.directory.Waits.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A group on an address of IPv6, where this machine has one. */
@Timeout(300)
final class GroupIpv6Test {
    private static final String LOOPBACK = "::1";

    private final DirectoryMembers members = new DirectoryMembers();

    GroupIpv6Test() throws IOException {}

    @AfterEach
    void allLeave() {
        members.close();
    }

    @Test
    void membersOnLoopback_meet_andKnowWhereSamplesAre() throws Exception {
        meet(InetAddress.ofLiteral(LOOPBACK));
    }

    /** Java's text of such an address ends with the card's name, which another machine may not have. */
    @Test
    void membersAtTheAddressOfACard_meet_andKnowWhereSamplesAre() throws Exception {
        try (Stream<NetworkInterface> cards = NetworkInterface.networkInterfaces()) {
            meet(cards.flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> address instanceof Inet6Address
                            && !address.isLoopbackAddress()
                            && !address.isLinkLocalAddress())
                    .findFirst()
                    .orElseGet(() -> skip("no card of this machine has an address of IPv6")));
        }
    }

    private void meet(InetAddress address) throws Exception {
        try (ServerSocket probe = new ServerSocket(0, 1, address)) {
            assertThat(probe.isBound()).isTrue();
        } catch (IOException e) {
            skip("no socket can be bound to " + address + " here: " + e.getMessage());
        }
        GroupMembership a = open(0, address);
        GroupMembership b = open(1, address);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        InetSocketAddress samples = b.nodes().getFirst().transferAddresses().getFirst();
        assertThat(samples.isUnresolved()).isFalse();
        assertThat(samples.getAddress()).isEqualTo(address);
        assertThat(samples.getAddress().getHostAddress()).doesNotContain("%");
    }

    /** The first of the two is named with its port, as all others have to name it. */
    private GroupMembership open(int number, InetAddress address) throws IOException {
        String text = address.getHostAddress().split("%", -1)[0];
        ClusterConfig config = new ClusterConfig(
                members.dataset(),
                members.secret(),
                new InetSocketAddress(address, members.ports().get(number)),
                new Discovery.Members(
                        List.of("[" + text + "]:" + members.ports().getFirst())),
                QUICK);
        InetSocketAddress samples = new InetSocketAddress(address, 9000 + number);
        GroupMembership opened =
                GroupMembership.open(config, new Node.Introduction("node" + number, samples, new byte[0]), SAMPLES);
        members.add(opened);
        return opened;
    }

    private static InetAddress skip(String reason) {
        System.out.println("skipped: " + reason);
        return abort(reason);
    }
}
