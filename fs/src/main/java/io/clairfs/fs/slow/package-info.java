/**
 * A slow source for demonstrations and tests: a FUSE passthrough with a shared bandwidth limit and a latency per open.
 * It is never part of a user's mount.
 */
@NullMarked
package io.clairfs.fs.slow;

import org.jspecify.annotations.NullMarked;
