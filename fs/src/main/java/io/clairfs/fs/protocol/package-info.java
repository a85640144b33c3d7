/**
 * The protocol that the kernel speaks on /dev/fuse, as far as a read-only tree needs it: mounting, the negotiation, the threads that take
 * requests, and the layouts of requests and replies (Linux, include/uapi/linux/fuse.h).
 *
 * <p>A {@link io.clairfs.fs.protocol.NodeFilesystem} knows what the tree holds. Requests reach it with node ids, never with paths.
 * The thread that took a request answers it, or another thread does when it has the bytes. No thread here pushes pages.
 */
@NullMarked
package io.clairfs.fs.protocol;

import org.jspecify.annotations.NullMarked;
