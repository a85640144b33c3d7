/**
 * Fetching samples from other nodes: connections, requests under way, and peers that fail.
 */
@NullMarked
package io.clairfs.peer.transfer.client;

import org.jspecify.annotations.NullMarked;
