package io.clairfs.peer.rails;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The addresses of this machine's network cards. */
public final class Rails {
    private final Topology topology;

    private Rails(Topology topology) {
        this.topology = topology;
    }

    /** Those of this machine. */
    public static Rails ofThisMachine() throws IOException {
        return new Rails(Topology.read(Path.of("/sys")));
    }

    public Topology topology() {
        return topology;
    }

    /** An address of each card that has a link and an address, in the order of {@link Topology#cards}. */
    public List<InetAddress> addresses() throws IOException {
        List<InetAddress> addresses = new ArrayList<>();
        for (NetworkCard card : topology.cards()) {
            CardAddress address = card.isUp() ? addressOf(card) : null;
            if (address != null) {
                addresses.add(address.address());
            }
        }
        return addresses;
    }

    /** The address by which others reach a card: its first of IPv4, else its first of IPv6; null if it has none. */
    public static @Nullable CardAddress addressOf(NetworkCard card) throws IOException {
        NetworkInterface known = NetworkInterface.getByName(card.name());
        CardAddress other = null;
        for (InterfaceAddress each : known == null ? List.<InterfaceAddress>of() : known.getInterfaceAddresses()) {
            InetAddress address = each.getAddress();
            if (address.isLoopbackAddress() || address.isLinkLocalAddress()) {
                continue;
            }
            CardAddress found = new CardAddress(address, each.getNetworkPrefixLength());
            if (address instanceof Inet4Address) {
                return found;
            }
            other = other == null ? found : other;
        }
        return other;
    }

    /** The processors near the card with this address; empty where none are nearer than others. */
    public BitSet processorsNear(InetAddress address) throws IOException {
        NetworkInterface at = NetworkInterface.getByInetAddress(address);
        for (NetworkCard card : topology.cards()) {
            if (at != null && card.name().equals(at.getName())) {
                return topology.processorsNear(card);
            }
        }
        return new BitSet();
    }
}
