/**
 * What should be kept where: the planner that turns what all jobs will read ({@code request}) into a placement ({@code policy}), by the performance model
 * ({@code model}); what is next used when; and how many loader threads each rank gets ({@code loaders}). Pure functions of their inputs, but for the rates
 * observed and the further copies, which follow the run. Nothing here fetches, stores or knows a tier's implementation.
 */
@NullMarked
package io.clairfs.cache.plan;

import org.jspecify.annotations.NullMarked;
