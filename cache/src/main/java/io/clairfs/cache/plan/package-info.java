/**
 * What should be kept where. The planner turns the reads of all jobs ({@code request}) into a placement ({@code policy}), by the
 * performance model ({@code model}). Also here: the next use of each sample, the loader threads of each rank ({@code loaders}), and the threads that
 * preprocess ({@code preprocess}). All are pure functions of their inputs, except for what is observed and the further copies, which follow the run. Nothing here fetches or
 * stores; of tiers it knows only what a sample takes beside its bytes on an SSD.
 */
@NullMarked
package io.clairfs.cache.plan;

import org.jspecify.annotations.NullMarked;
