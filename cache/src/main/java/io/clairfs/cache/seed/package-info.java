/**
 * The seed finds itself: the first reads of a trainer that told nothing, and the search for the sampler, seed, world and ranks that explain
 * them. It knows samples by index and readers by number; who watches the reads, and what becomes of an order that is found, is elsewhere.
 */
@NullMarked
package io.clairfs.cache.seed;

import org.jspecify.annotations.NullMarked;
