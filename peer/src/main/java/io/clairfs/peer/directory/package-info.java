/**
 * Membership, jobs and holdings of the group, over an embedded Hazelcast member (community edition).
 * Control plane only: a reader of {@code HeldElsewhere} makes no Hazelcast call and takes no lock. Every node has all of it,
 * so nothing is lost with a node. After a split brain the jobs of both halves are merged, and the later change wins.
 *
 * <p>What keeps strangers out. The community edition has no security suite: with TLS, symmetric encryption or member
 * authentication in its configuration it refuses to start, and a socket interceptor is ignored with a warning. What is left:
 * the name of the cluster, which a joining member must know, is an HMAC of the dataset's fingerprint under the secret, so a
 * node with another secret or dataset does not join; every member also signs its attributes, and one that cannot is
 * not listed; only the member protocol is open on the port (no clients, REST or memcache), on named addresses. What is not
 * protected: this traffic is neither encrypted nor authenticated on the wire. An eavesdropper sees the cluster's name and may
 * join with it; one who can alter packets can forge any message. Samples do not travel here. A wrong holding costs a refused
 * fetch, a wrong job useless preparation. On an untrusted network use a tunnel. Hazelcast
 * logs the name once, at INFO under {@code com.hazelcast.system}: keep that category at WARN.
 */
@NullMarked
package io.clairfs.peer.directory;

import org.jspecify.annotations.NullMarked;
