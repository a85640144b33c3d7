/**
 * Samples between nodes, over TCP with Netty: a server that serves what this node holds and a client that fetches from
 * others. Sample numbers travel, never paths. The state of a connection belongs to its event loop. A sample being served holds a
 * reference until the kernel has its bytes; a received sample belongs to the receiver of the answer. No Hazelcast here, and
 * no blocking call on an event loop. {@code Handshake} decides who may connect, before any other byte is parsed. After it
 * CRC32C finds damage, not malice; TLS guards against that.
 */
@NullMarked
package io.clairfs.peer.transfer;

import org.jspecify.annotations.NullMarked;
