/**
 * Asking other nodes for samples: connections, requests under way, what becomes of a peer that fails.
 */
@NullMarked
package io.clairfs.peer.transfer.client;

import org.jspecify.annotations.NullMarked;
