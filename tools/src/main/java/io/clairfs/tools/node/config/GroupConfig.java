package io.clairfs.tools.node.config;

import io.clairfs.peer.directory.Discovery;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The group of nodes that a mount shares its caches with.
 *
 * @param nodeName this node's name, which no other node of the group has
 * @param bind the address and port on which it is in the group; samples are served on the next port
 * @param discovery how the others are found
 * @param secretFile what all members know; null on loopback only
 * @param tls with which samples travel encrypted; null for plainly
 */
public record GroupConfig(
        String nodeName,
        InetSocketAddress bind,
        Discovery discovery,
        @Nullable Path secretFile,
        @Nullable Tls tls) {
    /** PEM files: this node's certificates, its key, and the certificates that sign for all nodes. */
    public record Tls(Path certificate, Path key, Path authority) {}

    /** Where samples are served. */
    public InetSocketAddress transferAddress() {
        return new InetSocketAddress(bind.getAddress(), bind.getPort() + 1);
    }
}
