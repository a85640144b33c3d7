package io.clairfs.tools.node.config;

import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.LocalAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The group of nodes that a mount shares its caches with.
 *
 * @param nodeName this node's name, unique in the group; that of {@link #addressToCome} where it is the address that is to come
 * @param bind this node's address and port in the group; samples are served on the next port. It is {@link #addressToCome} while the address cannot be told
 * @param discovery how the other nodes are found
 * @param secretFile the secret that all members share; null on loopback only
 * @param rails the addresses here on which samples are served and fetched, one for each network card; empty for that of {@code bind}
 * @param tls encrypts samples in transfer; null for plain text
 */
public record GroupConfig(
        String nodeName,
        InetSocketAddress bind,
        Discovery discovery,
        @Nullable Path secretFile,
        List<InetAddress> rails,
        @Nullable Tls tls) {
    private static final String TO_COME = "auto";

    /** PEM files: this node's certificates, its key, and the certificates that sign for all nodes. */
    public record Tls(Path certificate, Path key, Path authority) {}

    /** A {@code bind} that is chosen when the group is joined, by the way to the other members: none of them can be found when the mount begins. */
    public static InetSocketAddress addressToCome(int port) {
        return InetSocketAddress.createUnresolved(TO_COME, port);
    }

    /** The name of a node at {@code address} to which its operator gave none. */
    public static String nameAt(InetSocketAddress address) {
        String host = address.isUnresolved()
                ? address.getHostString()
                : address.getAddress().getHostAddress();
        return host + ":" + address.getPort();
    }

    /**
     * The same with an address, chosen now if it was still to come.
     *
     * @throws IOException with one line of reason if it cannot be told yet
     */
    public GroupConfig atAnAddress() throws IOException {
        if (!bind.equals(addressToCome(bind.getPort()))) {
            return this;
        }
        InetAddress here = LocalAddress.known(discovery)
                .orElseThrow(() -> new IOException("--bind auto: no way is known to any of the other members ("
                        + membersText() + "): look whether a name server knows them, or give --bind ADDRESS"));
        InetSocketAddress chosen = new InetSocketAddress(here, bind.getPort());
        String name = nodeName.equals(nameAt(bind)) ? nameAt(chosen) : nodeName;
        return new GroupConfig(name, chosen, discovery, secretFile, rails, tls);
    }

    private String membersText() {
        return switch (discovery) {
            case Discovery.Members(var hosts) -> String.join(", ", hosts);
            case Discovery.Kubernetes(var properties) -> properties.getOrDefault("service-dns", "kubernetes");
        };
    }

    /** The addresses on which this node serves samples, a rail each. */
    public List<InetSocketAddress> transferAddresses() {
        List<InetAddress> hosts = rails.isEmpty() ? List.of(bind.getAddress()) : rails;
        return hosts.stream()
                .map(host -> new InetSocketAddress(host, bind.getPort() + 1))
                .toList();
    }
}
