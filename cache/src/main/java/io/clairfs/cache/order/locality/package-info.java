/**
 * Locality-aware orders (Yang and Cong, HiPC 2019): every global batch has the samples of a base order, dealt so that most of them are read
 * on the node that owns them. Owners follow from arithmetic; no directory of caches is asked.
 */
@NullMarked
package io.clairfs.cache.order.locality;

import org.jspecify.annotations.NullMarked;
