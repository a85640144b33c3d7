/**
 * The threads that bring samples before they are asked for.
 *
 * <p>The {@link io.clairfs.cache.prefetch.Prefetcher} has the jobs of this node ({@code RunningJobs}), what their readers did
 * ({@code ReaderEvents}), the loaders that stage what the trainers read next
 * ({@code StagingPrefetcher}) and the fillers of each tier ({@code TierPrefetcher}). {@code LoaderShares} decides which rank a loader works
 * for. A thread without work sleeps on a {@code WorkSignal}; one of the sleepers looks again after a moment by itself, and wakes the others
 * when there is work.
 *
 * <p>Locks, outermost first: {@code LoaderShares}, a job's, the staging buffer's. None is held while a sample is fetched or pushed, or an order
 * computed: a job that runs has a thread for that.
 */
@NullMarked
package io.clairfs.cache.prefetch;

import org.jspecify.annotations.NullMarked;
