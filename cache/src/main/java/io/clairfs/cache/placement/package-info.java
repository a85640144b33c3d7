/**
 * What this node keeps, and where.
 *
 * <p>{@link io.clairfs.cache.placement.Planning} has the {@link io.clairfs.cache.placement.NodePlanner} make a plan whenever jobs, ranks or
 * nodes change, as a node alone ({@code AlonePlanner}) or as one of a group ({@code GroupPlanner}). Its
 * {@link io.clairfs.cache.placement.LocalPlan} says which tier of this node each sample belongs in, and in which order each tier is filled
 * ({@code FillOrders}: what the trainers read first comes first). {@link io.clairfs.cache.placement.Admission} admits fetched samples to
 * that tier, and {@code Insertion} puts them there: into memory at once, into slower tiers through a bounded queue ({@code WriteBackQueue})
 * that threads of their own write. {@link io.clairfs.cache.placement.ReplicaSpace}
 * fills the remaining room with replicas of samples with their home on another node.
 *
 * <p>Locks, outermost first: {@code ReplicaSpace}, {@code TierRoom}, {@code WriteBackQueue}, a tier. That of the last copies in {@code Eviction}
 * comes after all of them: nothing is called under it.
 */
@NullMarked
package io.clairfs.cache.placement;

import org.jspecify.annotations.NullMarked;
