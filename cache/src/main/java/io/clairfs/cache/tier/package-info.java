/**
 * Where samples are kept on this node: reference-counted off-heap memory, bounded and accounted in bytes. A tier stores samples and returns
 * them; which samples it should hold is decided elsewhere. The tier on a disk is in {@code ssd}.
 */
@NullMarked
package io.clairfs.cache.tier;

import org.jspecify.annotations.NullMarked;
