/**
 * Orders of clairfs' own that keep each node to a part of the dataset and exchange some of it between epochs: partial local shuffling. No
 * framework makes them, so a training script reads the order that clairfs writes.
 */
@NullMarked
package io.clairfs.cache.order.partial;

import org.jspecify.annotations.NullMarked;
