package io.clairfs.peer.directory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The address of this machine in a group: that from which it would send to the others. A name of its own may stand for a loopback address on the
 * machine itself, as Debian writes it into {@code /etc/hosts}, and a machine may have several addresses of which the others reach one.
 */
public final class LocalAddress {
    private static final Logger LOG = System.getLogger(LocalAddress.class.getName());

    /** Nothing is sent there. */
    private static final int ANY_PORT = 9;

    private LocalAddress() {}

    /**
     * The address from which the first of these members that is not this machine is reached; without one, that of this machine itself. Empty while it cannot
     * be told, for the name of a member has no address or no way leads to it, and none of the others shows by which address they know this machine. Later it
     * may be known. Names are looked up for ten seconds at most.
     */
    public static Optional<InetAddress> known(Discovery discovery) throws IOException {
        return known(discovery, InetAddress::getAllByName);
    }

    static Optional<InetAddress> known(Discovery discovery, NameLookup.Servers servers) throws IOException {
        List<String> hosts = hosts(discovery);
        Map<String, List<InetAddress>> addresses = NameLookup.of(hosts, servers, NameLookup.WITHIN_MS);
        List<InetAddress> own = new ArrayList<>();
        boolean isOpen = false;
        for (String host : hosts) {
            List<InetAddress> members = addresses.getOrDefault(host, List.of());
            isOpen |= members.isEmpty();
            for (InetAddress member : members) {
                if (member.isLoopbackAddress() || NetworkInterface.getByInetAddress(member) != null) {
                    own.add(member);
                    continue;
                }
                InetAddress from = from(member);
                if (from != null) {
                    return Optional.of(from);
                }
                isOpen = true;
            }
        }
        Optional<InetAddress> reached =
                own.stream().filter(address -> !address.isLoopbackAddress()).findFirst();
        if (reached.isPresent() || isOpen) {
            return reached;
        }
        return Optional.of(own.isEmpty() ? InetAddress.getLoopbackAddress() : own.getFirst());
    }

    private static List<String> hosts(Discovery discovery) {
        return switch (discovery) {
            case Discovery.Members(var hosts) ->
                hosts.stream().map(LocalAddress::withoutPort).toList();
            case Discovery.Kubernetes(var properties) -> List.of(properties.getOrDefault("service-dns", ""));
        };
    }

    private static String withoutPort(String member) {
        int colon = member.lastIndexOf(':');
        return colon < 0 || member.endsWith("]") ? member : member.substring(0, colon);
    }

    /** The address that the kernel would send from; null where it knows no way. */
    private static @Nullable InetAddress from(InetAddress member) throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(member, ANY_PORT));
            return socket.getLocalAddress();
        } catch (UncheckedIOException | SocketException noWay) {
            LOG.log(Level.DEBUG, "no way to " + member, noWay);
            return null;
        }
    }
}
