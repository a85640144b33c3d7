/**
 * The performance model of NoPFS (section 4): storage classes, their throughput by threads, and what a fetch from each place costs. Observed rates
 * correct it.
 */
@NullMarked
package io.clairfs.cache.plan.model;

import org.jspecify.annotations.NullMarked;
