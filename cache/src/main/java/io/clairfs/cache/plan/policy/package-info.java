/**
 * The policies of placement, each a way to choose the home of every sample and what each node keeps:
 * {@link io.clairfs.cache.plan.policy.CoverageFirst}, {@link io.clairfs.cache.plan.policy.FollowReaders} for orders that move slowly, and those
 * for comparison. {@link io.clairfs.cache.plan.policy.Placement} is the
 * result.
 */
@NullMarked
package io.clairfs.cache.plan.policy;

import org.jspecify.annotations.NullMarked;
