/**
 * Serving samples to other nodes, from memory or from a file on a disk, within bounds.
 */
@NullMarked
package io.clairfs.peer.transfer.server;

import org.jspecify.annotations.NullMarked;
