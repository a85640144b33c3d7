/**
 * Membership, jobs and holdings of the group, over an embedded Hazelcast member (community edition).
 * Control plane only: a reader of {@code HeldElsewhere} makes no Hazelcast call and takes no lock. Every node has all of it,
 * so nothing is lost with a node. After a split brain the jobs of both halves are merged, and the later change wins.
 *
 * <p>What keeps strangers out. With a secret, all traffic between members is TLS, and only members that prove the secret get that far
 * ({@code peer.directory.tls}). The community edition has none of this in its configuration: it refuses to start with TLS, encryption or member
 * authentication there. Behind it stand the older fences: the name of the cluster is an HMAC of the dataset's fingerprint under the secret;
 * every member signs its attributes, and one that cannot is not listed; only the member protocol is open on the port (no clients, REST or
 * memcache), on named addresses. Without a secret a group is open to all processes of its machine. Samples do not travel here.
 */
@NullMarked
package io.clairfs.peer.directory;

import org.jspecify.annotations.NullMarked;
