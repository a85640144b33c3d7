/**
 * The protocol that the kernel speaks on /dev/fuse, as far as a read-only tree needs it: mounting, the negotiation, the threads that take
 * requests, and the layouts of requests and replies (Linux, include/uapi/linux/fuse.h).
 *
 * <p>What the tree holds is the business of a {@link io.clairfs.fs.protocol.NodeFilesystem}, which sees numbers of nodes and never a path.
 * Requests are answered by the thread that took them, or later by whoever has the bytes. No thread here pushes pages.
 */
@NullMarked
package io.clairfs.fs.protocol;

import org.jspecify.annotations.NullMarked;
