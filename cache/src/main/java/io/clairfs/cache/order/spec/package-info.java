/**
 * From a user's line to a sampler: {@link io.clairfs.cache.order.spec.OrderSpec} is the parsed line,
 * {@link io.clairfs.cache.order.spec.Samplers} the samplers by name. A new sampler is entered there.
 */
@NullMarked
package io.clairfs.cache.order.spec;

import org.jspecify.annotations.NullMarked;
