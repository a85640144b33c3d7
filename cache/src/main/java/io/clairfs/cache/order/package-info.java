/**
 * The order in which a trainer reads: samplers of the frameworks, bit for bit, and the access stream of a rank over all
 * epochs. Pure functions of seeds and sizes; the only input is a file that a spec names, an order or a generator's state.
 */
@NullMarked
package io.clairfs.cache.order;

import org.jspecify.annotations.NullMarked;
