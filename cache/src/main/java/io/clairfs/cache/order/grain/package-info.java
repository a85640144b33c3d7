/**
 * The order of Grain's index sampler.
 */
@NullMarked
package io.clairfs.cache.order.grain;

import org.jspecify.annotations.NullMarked;
