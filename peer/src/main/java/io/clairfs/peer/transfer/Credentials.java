package io.clairfs.peer.transfer;

import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a node shows to others, and asks of them.
 *
 * @param fingerprint of the dataset, which must be the same on both sides
 * @param secret that both sides must know; null for a group on one machine
 * @param tls for encryption, or null
 */
public record Credentials(
        Fingerprint fingerprint,
        @Nullable Secret secret,
        @Nullable TransferTls tls) {
    /** Without TLS. */
    public Credentials(Fingerprint fingerprint, @Nullable Secret secret) {
        this(fingerprint, secret, null);
    }

    /** Why a node must not listen on these addresses with this secret, or with none; empty if it may. */
    public static Optional<String> requireSecretUnlessLoopback(
            Collection<InetSocketAddress> addresses, @Nullable Secret secret) {
        for (InetSocketAddress address : addresses) {
            if (address.isUnresolved()) {
                return Optional.of(address.getHostString() + ": no such host");
            }
            if (address.getAddress().isAnyLocalAddress()) {
                return Optional.of(address.getAddress().getHostAddress()
                        + ": name the address to listen on; the wildcard would open all of them");
            }
            if (secret == null && !address.getAddress().isLoopbackAddress()) {
                return Optional.of(
                        address.getAddress().getHostAddress()
                                + ": without a secret a node listens on loopback only, or anybody on the network could read the dataset");
            }
        }
        return Optional.empty();
    }
}
