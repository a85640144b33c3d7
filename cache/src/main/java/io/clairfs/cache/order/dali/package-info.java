/**
 * The order of NVIDIA DALI's readers.
 */
@NullMarked
package io.clairfs.cache.order.dali;

import org.jspecify.annotations.NullMarked;
