/**
 * The performance model of NoPFS (section 4): storage classes, their throughput by threads, and the cost of a fetch from each place.
 * Observed rates correct it.
 */
@NullMarked
package io.clairfs.cache.plan.model;

import org.jspecify.annotations.NullMarked;
