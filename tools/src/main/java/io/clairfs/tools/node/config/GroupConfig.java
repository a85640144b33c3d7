package io.clairfs.tools.node.config;

import io.clairfs.peer.directory.Discovery;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The group of nodes that a mount shares its caches with.
 *
 * @param nodeName this node's name, unique in the group
 * @param bind this node's address and port in the group; samples are served on the next port
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
    /** PEM files: this node's certificates, its key, and the certificates that sign for all nodes. */
    public record Tls(Path certificate, Path key, Path authority) {}

    /** The addresses on which this node serves samples, a rail each. */
    public List<InetSocketAddress> transferAddresses() {
        List<InetAddress> hosts = rails.isEmpty() ? List.of(bind.getAddress()) : rails;
        return hosts.stream()
                .map(host -> new InetSocketAddress(host, bind.getPort() + 1))
                .toList();
    }
}
