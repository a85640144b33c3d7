/**
 * The order in which a trainer reads: what a sampler is, the orders of the epochs, and the access stream of a rank over all of them. Pure
 * functions of seeds and sizes; the only input is a file that a spec names: an order or a generator's state. {@code FileLooks}
 * bounds the wait for one that does not answer.
 *
 * <p>The frameworks' samplers are in packages of their own ({@code torch}, {@code python}, {@code tensorflow}, {@code dali},
 * {@code grain}), built on {@code random}; {@code locality} deals their orders by where samples are; {@code spec} maps the names.
 */
@NullMarked
package io.clairfs.cache.order;

import org.jspecify.annotations.NullMarked;
