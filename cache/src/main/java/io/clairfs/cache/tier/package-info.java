/**
 * Where samples wait on this node: reference-counted off-heap memory, bounded and accounted in bytes. A tier holds and gives out; which samples it should
 * hold is decided elsewhere. The tier on a disk is in {@code ssd}.
 */
@NullMarked
package io.clairfs.cache.tier;

import org.jspecify.annotations.NullMarked;
