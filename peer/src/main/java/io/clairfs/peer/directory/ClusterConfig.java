package io.clairfs.peer.directory;

import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Which group this node joins, and how.
 *
 * @param dataset that the group shares
 * @param secret that its members share; null only for a group on loopback
 * @param bind address and port to listen on, one of this machine's, not the wildcard
 * @param discovery of the others
 * @param times of the control plane
 */
public record ClusterConfig(
        Fingerprint dataset,
        @Nullable Secret secret,
        InetSocketAddress bind,
        Discovery discovery,
        DirectoryTimes times) {
    public ClusterConfig {
        if (bind.isUnresolved() || bind.getAddress().isAnyLocalAddress() || bind.getPort() == 0) {
            throw new IllegalArgumentException(bind + ": name one address of this machine and a port");
        }
        if (secret == null && !bind.getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(bind + ": without a secret a group lives on loopback only");
        }
    }

    /** The name that tells groups apart: that of the same dataset and secret. */
    String clusterName() {
        return "clairfs-" + java.util.HexFormat.of().formatHex(sign("clairfs cluster name"));
    }

    /** What a member must know to talk to others at all; null if the group has no secret. */
    @Nullable
    Secret encryptionKey() {
        return secret == null ? null : Secret.of(sign("clairfs directory encryption"));
    }

    /** The signature of a member over its attributes. */
    byte[] sign(String purpose, byte[]... parts) {
        byte[][] all = new byte[parts.length + 1][];
        all[0] = dataset.bytes();
        System.arraycopy(parts, 0, all, 1, parts.length);
        return secret == null ? Secret.openMac(purpose, all) : secret.mac(purpose, all);
    }
}
