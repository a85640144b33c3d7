/**
 * What this node keeps, and where.
 *
 * <p>{@link io.clairfs.cache.placement.Planning} has the {@link io.clairfs.cache.placement.NodePlanner} make a plan whenever jobs, ranks or nodes change;
 * its {@link io.clairfs.cache.placement.LocalPlan} says of each sample which tier of this node it belongs in, and in which order each tier is filled
 * ({@code FillOrders}: what the trainers read first comes first). {@link io.clairfs.cache.placement.Admission} admits what was fetched to that tier,
 * whoever fetched it: memory at once, slower tiers through a bounded queue ({@code WriteBackQueue}) that threads of their own write.
 * {@link io.clairfs.cache.placement.ReplicaSpace} fills the room that is left with samples that have their home on another node.
 *
 * <p>Locks, outermost first: {@code TierRoom} or {@code ReplicaSpace}, {@code WriteBackQueue}, a tier.
 */
@NullMarked
package io.clairfs.cache.placement;

import org.jspecify.annotations.NullMarked;
