/**
 * Where the trainer of each rank is, from nothing but the files that readers close.
 *
 * <p>A {@link io.clairfs.cache.follow.JobRun} has a window per rank, and its {@code TrainerFollower} asks of each read: is it of this job's order, about where
 * its rank is ({@code SyncDetector}); is it of another epoch than the one expected ({@code EpochDriftDetector}); is it of somebody who goes through the dataset in name order
 * ({@code NameOrderPasses}). When reads no longer fit, the trainer is looked for in the orders of all epochs ({@code TrainerSearch},
 * {@code PositionSearch}), and the windows jump to where it is.
 *
 * <p>The lock of a {@code JobRun} is taken first, that of the staging buffer inside it; neither is held over a read of the source or a push.
 */
@NullMarked
package io.clairfs.cache.follow;

import org.jspecify.annotations.NullMarked;
