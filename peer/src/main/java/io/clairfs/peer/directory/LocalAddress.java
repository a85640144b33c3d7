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
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The address of this machine in a group: that from which it would send to the others. A name of its own may stand for a loopback address on the
 * machine itself, as Debian writes it into {@code /etc/hosts}, and a machine may have several addresses of which the others reach one.
 */
public final class LocalAddress {
    private static final Logger LOG = System.getLogger(LocalAddress.class.getName());

    /** How often names are looked up, where none is known, a second apart: the name server may be starting, too. */
    private static final int LOOKS = 5;

    /** Nothing is sent there. */
    private static final int ANY_PORT = 9;

    private LocalAddress() {}

    /** The address from which the first of these members that is not this machine is reached; without one, that of this machine itself. */
    public static InetAddress towards(Discovery discovery) throws IOException {
        List<InetAddress> own = new ArrayList<>();
        for (InetAddress member : members(hosts(discovery))) {
            if (member.isLoopbackAddress() || NetworkInterface.getByInetAddress(member) != null) {
                own.add(member);
                continue;
            }
            InetAddress from = from(member);
            if (from != null) {
                return from;
            }
        }
        return own.stream()
                .filter(address -> !address.isLoopbackAddress())
                .findFirst()
                .or(() -> own.stream().findFirst())
                .orElseGet(InetAddress::getLoopbackAddress);
    }

    private static List<InetAddress> members(List<String> hosts) {
        List<InetAddress> members = List.of();
        for (int looks = 0; looks < LOOKS && members.isEmpty() && !hosts.isEmpty(); looks++) {
            if (looks > 0 && !pause()) {
                return members;
            }
            members = hosts.stream().flatMap(host -> addresses(host).stream()).toList();
        }
        if (members.isEmpty() && !hosts.isEmpty()) {
            LOG.log(
                    Level.WARNING,
                    "no address is known for any of " + String.join(", ", hosts)
                            + ", so the others do not find this node:"
                            + " mount again when there is, or give --bind ADDRESS");
        }
        return members;
    }

    private static boolean pause() {
        try {
            TimeUnit.SECONDS.sleep(1);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
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

    private static List<InetAddress> addresses(String host) {
        try {
            return List.of(InetAddress.getAllByName(host));
        } catch (UnknownHostException e) {
            LOG.log(Level.DEBUG, "no address is known for " + host, e);
            return List.of();
        }
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
