/**
 * What is in the page cache before the trainer opens it.
 *
 * <p>A {@link io.clairfs.cache.stage.StreamWindow} is the part of one rank's access stream that is staged now or next: the loader takes the
 * next position from it, the follower ticks off what was read. The {@link io.clairfs.cache.stage.StagingBuffer} gives each position room
 * within the budget of the node; a sample that several positions want takes room once. Room is one state machine (reserved, loading,
 * staged, leaving, gone). The task of bringing a sample closes itself, so no failure leaks room. {@link io.clairfs.cache.stage.StagingArea}
 * is the port to the kernel.
 *
 * <p>A window belongs to its job and is guarded by it. The buffer has a lock of its own, which is taken inside the job's and never the
 * other way round.
 */
@NullMarked
package io.clairfs.cache.stage;

import org.jspecify.annotations.NullMarked;
