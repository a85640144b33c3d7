/**
 * What a user says about a training run: the line of {@code key=value} pairs, parsed and checked in one place, and the ranks that read
 * through a mount. Nothing here fetches or stages.
 */
@NullMarked
package io.clairfs.cache.job;

import org.jspecify.annotations.NullMarked;
