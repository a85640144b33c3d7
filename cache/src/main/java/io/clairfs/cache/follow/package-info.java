/**
 * Where the trainer of each rank is, told by nothing but the files that readers close or ask for.
 *
 * <p>A {@link io.clairfs.cache.follow.JobRun} has a stream per rank ({@link io.clairfs.cache.follow.RankStream}). Its
 * {@code TrainerFollower} asks of each read: does it follow this job's order, about where its rank is ({@code SyncDetector}); is it of another
 * epoch than the expected one ({@code EpochDriftDetector}); is it of a pass over the dataset in name order ({@code NameOrderPasses}). When reads no longer fit, the
 * trainer is searched for in the orders of the epochs around ({@code TrainerSearch}, {@code PositionSearch}), and the windows jump to where
 * it is.
 *
 * <p>The lock of a {@code JobRun} is taken first, that of the staging buffer inside it; neither is held over a read of the source or a
 * push, nor over the computation of an order once the job runs.
 */
@NullMarked
package io.clairfs.cache.follow;

import org.jspecify.annotations.NullMarked;
