package io.clairfs.peer.rails;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is read of {@code /sys}, on recorded machines: their directories, links and files as the kernel shows them. */
final class TopologyTest {
    private static final String NVIDIA = "0x10de";
    private static final String INTEL = "0x8086";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path sys;

    private void write(String file, String text) throws IOException {
        Path to = sys.resolve(file);
        Files.createDirectories(Objects.requireNonNull(to.getParent()));
        Files.writeString(to, text + "\n");
    }

    private void link(String from, String to) throws IOException {
        Path at = sys.resolve(from);
        Path parent = Objects.requireNonNull(at.getParent());
        Files.createDirectories(parent);
        Files.createSymbolicLink(at, parent.relativize(sys.resolve(to)));
    }

    /** A network card below these bridges; its directory in {@code class/net} is a link, as the kernel's is. */
    private void card(String name, String bridges, String device, int numaNode, String state, String speed)
            throws IOException {
        String at = "devices/" + bridges + "/" + device;
        write(at + "/numa_node", Integer.toString(numaNode));
        write(at + "/net/" + name + "/operstate", state);
        write(at + "/net/" + name + "/speed", speed);
        link(at + "/net/" + name + "/device", at);
        link("class/net/" + name, at + "/net/" + name);
    }

    private void pci(String bridges, String device, int numaNode, String kind, String vendor) throws IOException {
        String at = "devices/" + bridges + "/" + device;
        write(at + "/numa_node", Integer.toString(numaNode));
        write(at + "/class", kind);
        write(at + "/vendor", vendor);
        link("bus/pci/devices/" + device, at);
    }

    private void node(int number, String processors) throws IOException {
        write("devices/system/node/node" + number + "/cpulist", processors);
    }

    /** As in a DGX: two sockets with two switches each, below each of which are two accelerators and two cards. */
    private void manyAccelerators() throws IOException {
        node(0, "0-55,112-167");
        node(1, "56-111,168-223");
        write("devices/system/node/possible", "0-1");
        String[] roots = {"pci0000:0c", "pci0000:4b", "pci0000:8a", "pci0000:ca"};
        String[] buses = {"0c", "4b", "8a", "ca"};
        for (int i = 0; i < roots.length; i++) {
            String bridge = roots[i] + "/0000:" + buses[i] + ":01.0/0000:" + i + "d:00.0";
            for (int j = 0; j < 2; j++) {
                pci(
                        bridge + "/0000:" + i + "e:0" + j + ".0",
                        "0000:" + i + "f:0" + j + ".0",
                        i / 2,
                        "0x030200",
                        NVIDIA);
                card(
                        "ib" + (2 * i + j),
                        bridge + "/0000:" + i + "e:1" + j + ".0",
                        "0000:" + (6 + i) + "a:0" + j + ".0",
                        i / 2,
                        "up",
                        "400000");
            }
        }
        pci("pci0000:00", "0000:00:02.0", 0, "0x030000", INTEL); // shows the console
        card("eno1", "pci0000:00/0000:00:1c.0", "0000:02:00.0", 0, "down", "-1");
        write("devices/virtual/net/bond0/operstate", "up");
        link("class/net/bond0", "devices/virtual/net/bond0");
    }

    @Test
    void manyAccelerators_haveACardEach_belowTheirSwitch() throws IOException {
        manyAccelerators();
        Topology topology = Topology.read(sys);
        assertThat(topology.cards().stream().map(NetworkCard::name))
                .containsExactly("eno1", "ib0", "ib1", "ib2", "ib3", "ib4", "ib5", "ib6", "ib7");
        assertThat(topology.accelerators().stream().map(Accelerator::address))
                .containsExactly(
                        "0000:0f:00.0",
                        "0000:0f:01.0",
                        "0000:1f:00.0",
                        "0000:1f:01.0",
                        "0000:2f:00.0",
                        "0000:2f:01.0",
                        "0000:3f:00.0",
                        "0000:3f:01.0");
        assertThat(topology.nearestCards()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
        NetworkCard last = topology.cards().getLast();
        assertThat(last.bitsPerSecond()).isEqualTo(400_000_000_000L);
        assertThat(last.isUp()).isTrue();
        assertThat(last.numaNode()).isEqualTo(1);
        assertThat(topology.processorsNear(last)).isEqualTo(Topology.numbers("56-111,168-223"));
        assertThat(topology.cards().getFirst().isUp()).isFalse();
        assertThat(topology.cards().getFirst().bitsPerSecond()).isZero();
    }

    @Test
    void cardsOfTwoSockets_withoutACommonSwitch_areChosenByTheirNumaNode() throws IOException {
        node(0, "0-15");
        node(1, "16-31");
        pci("pci0000:10", "0000:11:00.0", 0, "0x030200", NVIDIA);
        pci("pci0000:20", "0000:21:00.0", 1, "0x030200", NVIDIA);
        card("eth0", "pci0000:30", "0000:31:00.0", 1, "up", "100000");
        card("eth1", "pci0000:40", "0000:41:00.0", 0, "up", "100000");
        assertThat(Topology.read(sys).nearestCards()).containsExactly(1, 0);
    }

    @Test
    void virtualMachineThatTellsNothing_hasOneCardForAll() throws IOException {
        node(0, "0-7");
        pci("pci0000:00", "0000:00:05.0", -1, "0x030200", NVIDIA);
        pci("pci0000:00", "0000:00:06.0", -1, "0x030200", NVIDIA);
        card("ens4", "pci0000:00/0000:00:04.0", "virtio1", -1, "up", "-1");
        Topology topology = Topology.read(sys);
        assertThat(topology.nearestCards()).containsExactly(0, 0);
        assertThat(topology.processorsNear(topology.cards().getFirst())).isEqualTo(new BitSet());
    }

    @Test
    void machineWithNothing_hasNothing() throws IOException {
        Topology topology = Topology.read(sys);
        assertThat(topology.cards()).isEmpty();
        assertThat(topology.nearestCards()).isEmpty();
        pci("pci0000:00", "0000:00:05.0", 0, "0x120000", "0x1002");
        assertThat(Topology.read(sys).nearestCards()).containsExactly(-1);
    }

    @Test
    void thisMachine_canBeRead() throws IOException {
        assertThat(Rails.ofThisMachine().addresses())
                .allMatch(address -> !address.isLoopbackAddress())
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 24, 10.0.0.200, 24, true",
        "10.0.0.1, 24, 10.0.1.1, 24, false",
        "10.0.0.1, 16, 10.0.1.1, 16, true",
        "10.0.0.1, 31, 10.0.0.2, 31, false",
        "fd00::1, 64, fd00::2, 64, true",
        "fd00::1, 64, fd00:0:0:1::1, 64, false",
        "10.0.0.1, 24, fd00::1, 24, false",
    })
    void addressesInOneSubnet(String one, int bits, String other, int otherBits, boolean together) throws IOException {
        CardAddress first = new CardAddress(InetAddress.getByName(one), bits);
        CardAddress second = new CardAddress(InetAddress.getByName(other), otherBits);
        assertThat(first.isInSubnetOf(second)).isEqualTo(together);
        assertThat(CardAddress.pairsInOneSubnet(List.of(first, second))).hasSize(together ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0-3,8,10-11 | 7", "0 | 1", "'' | 0", "nonsense | 0", "3-1 | 1"})
    void numbers(String list, int count) {
        assertThat(Topology.numbers(list).cardinality()).isEqualTo(count);
    }
}
