/**
 * TLS 1.3 of the JDK below Hazelcast's member protocol, with the group's secret in place of an authority. Bytes and keys only: nothing here knows
 * members, jobs or holdings.
 *
 * <p>{@code GroupNodeContext} makes a Hazelcast member that has a {@code TlsConnection} at the network's side of each of its
 * connections. It extends classes of Hazelcast 5.7.0 that are not part of its public interface, so it must be checked with every other version:
 * {@code DirectoryEncryptionTest} does that.
 *
 * <p>Locks: each connection has one, held while bytes pass through its TLS engine. Hazelcast's threads take it; nothing is locked inside.
 */
@NullMarked
package io.clairfs.peer.directory.tls;

import org.jspecify.annotations.NullMarked;
