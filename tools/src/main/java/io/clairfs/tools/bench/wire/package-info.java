/**
 * What each way through the mount costs beside other filesystems that pass files on: reads that nobody staged, a trainer without pauses, a walk, a daemon
 * with nothing to do, the commands. Each part measures all sides in turns within one run.
 */
@NullMarked
package io.clairfs.tools.bench.wire;

import org.jspecify.annotations.NullMarked;
