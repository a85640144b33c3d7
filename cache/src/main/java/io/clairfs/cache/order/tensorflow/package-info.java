/**
 * The order of {@code tf.data}: its seeds and its shuffle buffer.
 */
@NullMarked
package io.clairfs.cache.order.tensorflow;

import org.jspecify.annotations.NullMarked;
