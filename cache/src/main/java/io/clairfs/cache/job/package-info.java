/**
 * What a user says about a training run: the line of {@code key=value} pairs, parsed and checked in one place, and the
 * table of jobs that run now. Nothing here fetches or stages.
 */
@NullMarked
package io.clairfs.cache.job;

import org.jspecify.annotations.NullMarked;
