/**
 * Samples between nodes, over TCP with Netty: a server that serves what this node holds and a client that fetches from
 * others. Numbers of samples travel, never paths. Everything a connection knows belongs to its event loop; memory being served
 * holds a reference until the kernel has it, memory received belongs to whoever takes the answer. No Hazelcast here, and
 * no blocking call on an event loop. Who may connect is settled by {@code Handshake}, before any other byte is looked at;
 * behind it CRC32C finds damage, not malice: for that there is TLS.
 */
@NullMarked
package io.clairfs.peer.transfer;

import org.jspecify.annotations.NullMarked;
