package io.clairfs.tools.daemon;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The group of nodes that a mount shares its caches with.
 *
 * @param nodeName this node's name, which no other node of the group has
 * @param bind the address and port on which it is in the group; samples are lent on the next port
 * @param members hosts, with or without ports, where others may be
 * @param secretFile what all members know; null on loopback only
 */
public record GroupConfig(
        String nodeName,
        InetSocketAddress bind,
        List<String> members,
        @Nullable Path secretFile) {
    public GroupConfig {
        members = List.copyOf(members);
    }

    /** Where samples are lent. */
    InetSocketAddress transferAddress() {
        return new InetSocketAddress(bind.getAddress(), bind.getPort() + 1);
    }
}
