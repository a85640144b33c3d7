/**
 * How many threads preprocess samples and how many load them: Lobster, section 4.1. A model of the preprocessing time by sample size and
 * threads, measured by {@code clairfs calibrate --decode}; the split of one pool of threads between the two stages by that model; and what
 * the model advises a trainer that has workers of its own. It decides numbers; it neither decodes nor starts a thread.
 */
@NullMarked
package io.clairfs.cache.plan.preprocess;

import org.jspecify.annotations.NullMarked;
