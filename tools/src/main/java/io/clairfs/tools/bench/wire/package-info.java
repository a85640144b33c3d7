/**
 * Compares the cost of each path through the mount with other pass-through filesystems: unstaged reads, a trainer without pauses, a walk,
 * an idle daemon, the commands. Each part measures all sides in turns within one run.
 */
@NullMarked
package io.clairfs.tools.bench.wire;

import org.jspecify.annotations.NullMarked;
