package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which address a node takes by itself. {@code .ci/long-run slurm} shows it with four machines. */
final class LocalAddressTest {
    private static Optional<InetAddress> towards(String... members) throws IOException {
        return LocalAddress.known(new Discovery.Members(List.of(members)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1:5701", "localhost", "localhost:5701"})
    void groupOnLoopback_isOnLoopback(String member) throws IOException {
        assertThat(towards(member)).hasValueSatisfying(LocalAddressTest::isLoopback);
    }

    private static void isLoopback(InetAddress address) {
        assertThat(address.isLoopbackAddress()).isTrue();
    }

    @Test
    void nobodyElse_isLoopback_andNothingKnown_isOpen() throws IOException {
        assertThat(towards()).hasValueSatisfying(LocalAddressTest::isLoopback);
        assertThat(LocalAddress.known(new Discovery.Kubernetes(Map.of("service-dns", "localhost"))))
                .hasValueSatisfying(LocalAddressTest::isLoopback);
        assertThat(towards("nowhere.invalid")).isEmpty();
    }

    /** As on a machine whose own name is in {@code /etc/hosts}, while no name server answers. */
    @Test
    void othersWithoutAnAddressYet_leaveItOpen_andLoopbackIsNotTaken() throws IOException {
        Discovery members = new Discovery.Members(List.of("here.test:5701", "there.test:5701"));
        Map<String, String> known = new HashMap<>(Map.of("here.test", "127.0.1.1"));
        NameLookup.Servers servers = name -> {
            String address = known.get(name);
            if (address == null) {
                throw new UnknownHostException(name);
            }
            return InetAddress.getAllByName(address);
        };
        assertThat(LocalAddress.known(members, servers)).isEmpty();
        known.put("there.test", "127.0.0.2");
        assertThat(LocalAddress.known(members, servers)).contains(InetAddress.getByName("127.0.1.1"));
    }

    @Test
    void addressOfThisMachine_isTaken_andLoopbackOnlyWithoutOne() throws IOException {
        for (NetworkInterface card : NetworkInterface.networkInterfaces().toList()) {
            for (InetAddress address : card.inetAddresses().toList()) {
                if (!address.isLoopbackAddress() && !address.isLinkLocalAddress() && address.getAddress().length == 4) {
                    assertThat(towards("127.0.1.1", address.getHostAddress())).contains(address);
                }
            }
        }
    }

    @Test
    void wayToAnotherMachine_beginsAtAnAddressOfThisOne() throws IOException {
        Optional<InetAddress> found =
                towards("127.0.1.1", "192.0.2.1:5701"); // kept for documentation, so nobody has it
        if (found.isPresent()) { // else this machine has no way to others
            assertThat(NetworkInterface.getByInetAddress(found.get())).isNotNull();
        }
    }
}
